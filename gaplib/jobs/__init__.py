"""Many pieces of work at once, on processes of this machine or on a Dask cluster."""
