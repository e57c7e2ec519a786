"""Many pieces of work at once, on processes of this machine or on a Dask cluster.

`cluster` connects to what computes, `work` has it call a function for many items. Neither knows what the work is.
"""
