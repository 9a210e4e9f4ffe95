import pytest
from django.urls import reverse

from evaluation.models import Report
from projects.models import Project
from responses.models import RespondentKind, SourceKind
from responses.services import Answer, get_condition, get_respondent, record_many


@pytest.fixture
def answered_by_a_bot(project: Project, make_dataset, make_instrument) -> None:
    item = make_dataset(project, n=7).items.first()
    instrument = make_instrument(project)
    bot = get_respondent(
        project=project, kind=RespondentKind.PARTICIPANT, key="session:1", attributes={}, simulated=True
    )
    condition = get_condition(project=project, factors={})
    record_many(
        project=project,
        instrument=instrument,
        answers=[Answer(bot.pk, item.pk, "answer", "yes", condition.pk)],
        source_kind=SourceKind.SESSION,
    )


def test_the_flow_has_a_box_for_each_part_with_counts(
    project: Project, answered_by_a_bot: None, researcher, client_as, django_assert_max_num_queries
):
    Report.objects.create(project=project, title="R", kind="alignment", status="failed", problem="No answers.")
    client = client_as(researcher)
    with django_assert_max_num_queries(15):
        page = client.get(reverse("project", args=[project.slug]))
    stages = [[(box.title, box.count) for box in boxes] for boxes in page.context["flow"]]
    assert stages == [
        [("Materials", 7)],
        [("Labelling", 0), ("Studies", 0), ("Models", 0)],
        [("Responses", 1)],
        [("Reports", 0)],
    ]
    by_title = {box.title: box for boxes in page.context["flow"] for box in boxes}
    assert by_title["Responses"].badges == ("simulated",)
    assert by_title["Reports"].attention == "1 could not be computed"
    assert "Simulated" in page.content.decode()


def test_an_empty_project_says_where_to_begin(project: Project, viewer, client_as):
    page = client_as(viewer).get(reverse("project", args=[project.slug])).content.decode()
    assert "Import items to begin." in page
