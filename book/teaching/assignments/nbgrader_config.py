"""Read by every nbgrader command that runs in this folder."""

from pathlib import Path

import nbgrader

c = get_config()  # noqa: F821  (nbgrader provides it)

c.CourseDirectory.course_id = "gap"
# Seconds for one cell. The slowest one starts TensorFlow.
c.Execute.timeout = 120
# A feedback page loads nothing from elsewhere: our template leaves out MathJax, and formulas stay as they are typed.
c.HTMLExporter.extra_template_basedirs = [
    str(Path(__file__).parent / "templates"),
    str(Path(nbgrader.__file__).parent / "server_extensions" / "formgrader" / "templates"),
]
