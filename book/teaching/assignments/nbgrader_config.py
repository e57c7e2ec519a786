"""Read by every nbgrader command that runs in this folder."""

import sys
import warnings
from pathlib import Path

import nbgrader
from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbgrader import preprocessors
from sqlalchemy.exc import SAWarning

sys.path.insert(0, str(Path(__file__).resolve().parent))

from marking.cells import PutInOrder
from marking.execute import ExecuteApart
from marking.feedback import NameTasks, ReleaseFeedback
from marking.grades import Grades

# nbgrader's own use of its database.
warnings.simplefilter("ignore", SAWarning)

c = get_config()  # noqa: F821  (nbgrader provides it)

c.CourseDirectory.course_id = "gap"

# Seconds that a student's cell may take, and all that one cell of tests asks of the student's functions.
c.ExecuteApart.seconds = 30
c.ExecuteApart.seconds_for = {"report": 120, "compare": 120}  # start TensorFlow; audit many releases
# For the teacher's own cells and the tests, with what they wait for.
c.Execute.timeout = 600
c.Execute.extra_arguments = ["--log-level=ERROR"]  # a kernel warns that its connection is not encrypted

c.Autograde.sanitize_preprocessors = [
    preprocessors.ClearOutput,
    PutInOrder,
    preprocessors.OverwriteKernelspec,
    preprocessors.OverwriteCells,
    preprocessors.CheckCellMetadata,
]
c.Autograde.autograde_preprocessors = [
    ExecuteApart,
    preprocessors.IgnorePattern,
    preprocessors.LimitOutput,
    preprocessors.SaveAutoGrades,
    preprocessors.AssignLatePenalties,
    preprocessors.CheckCellMetadata,
]
c.ExportApp.plugin_class = Grades
c.ExchangeFactory.release_feedback = ReleaseFeedback
c.GenerateFeedback.preprocessors = [preprocessors.GetGrades, NameTasks, CSSHTMLHeaderPreprocessor]
# Our templates of a feedback page go first: they name the tasks, and load nothing from elsewhere.
c.HTMLExporter.extra_template_basedirs = [
    str(Path(__file__).resolve().parent / "templates"),
    str(Path(nbgrader.__file__).parent / "server_extensions" / "formgrader" / "templates"),
]
c.HTMLExporter.template_file = "page.html.j2"
