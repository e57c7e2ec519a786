"""Many runs of one notebook: papermill on `gaplib.jobs`, resumable.

The commands are ``python -m gaplib run`` and ``python -m gaplib sweep``. Here `command` is what they do, `grid` reads
the values of a parameter, `plan` says which runs there are, `fingerprint` and `versions` what they compute with,
`execution` does one of them, `store` keeps each that ended, `table` and `summary` sum them up.
"""
