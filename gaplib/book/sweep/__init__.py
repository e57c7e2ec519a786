"""Many runs of one notebook: papermill on Dask, resumable. The commands are ``python -m gaplib run`` and ``sweep``.

`plan` says which runs there are, `worker` does one of them, `farm` has Dask do many, `store` keeps each that ended,
`table` and `summary` put them together, `command` is the command line.
"""
