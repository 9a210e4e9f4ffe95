"""The pages of a participant: a stranger who reaches one session, their own, by its unguessable key.

Posts are exempt from CSRF tokens: the key in the address is what authorises, no cookie does, so another site cannot act
for a person whose key it does not know; and a token would lose answers when its cookie has expired or is blocked.
Query strings carry platform ids: nothing here logs them, and the redirect takes them out of the address.
"""

from typing import Any

from django.core import signing
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from materials.form_values import clean_text, form_value
from projects.markdown import render_markdown
from studies.models import Screen, Session, Study, new_key
from studies.pages import screen_context, stored_answers
from studies.paradata import read_paradata
from studies.pilot import PARAMETER, is_pilot
from studies.services import (
    AnswersRefusedError,
    Entered,
    StudyNotOpenError,
    current_screen,
    enter,
    enter_pilot,
    enter_without_platform,
    save_draft,
    submit_screen,
)
from studies.services.entry import usable_id
from studies.simulation import is_simulated

COOKIE = "session_key"
COOKIE_SECONDS = 30 * 24 * 60 * 60
PROLIFIC_RETURN = "https://app.prolific.com/submissions/complete?"


@csrf_exempt
@never_cache
@require_http_methods(["GET", "POST"])
def participant_entry(request: HttpRequest, key: str) -> HttpResponse:
    """Where the recruitment platform sends people. Goes on to their session, or says why there is none."""
    study = Study.objects.select_related("project").filter(key=key).first()
    if study is None:
        return _say_missing(request)
    try:
        simulated = is_simulated(request.headers, study)
    except signing.BadSignature:
        return _say(request, study, "bad_simulation", status=403)
    try:
        pilot = is_pilot(request.GET.get(PARAMETER), study)
    except signing.BadSignature:
        return _say(request, study, "bad_pilot", status=403)
    try:
        entered = _enter_pilot(request, study) if pilot else _enter(request, study, simulated=simulated)
    except StudyNotOpenError:
        return _say(request, study, "closed")
    if entered is None:
        return _say(request, study, "begin", token=new_key()) if pilot else _say_how_to_enter(request, study)
    address = reverse("participant_session", kwargs={"key": key, "session_key": entered.session.key})
    response = redirect(address + "?note=resumed" if entered.resumed else address)
    response.set_cookie(
        COOKIE,
        entered.session.key,
        max_age=COOKIE_SECONDS,
        path=reverse("participant_entry", kwargs={"key": key}),
        secure=request.is_secure(),
        httponly=True,
        samesite="Lax",
    )
    return response


def _enter_pilot(request: HttpRequest, study: Study) -> Entered | None:
    token = usable_id(request.POST.get("token"))
    return enter_pilot(study, token=token) if token else None


def _enter(request: HttpRequest, study: Study, *, simulated: bool) -> Entered | None:
    """None when the request does not say who comes."""
    participant = usable_id(request.GET.get("PROLIFIC_PID"))
    submission = usable_id(request.GET.get("SESSION_ID"))
    if study.platform == Study.Platform.PROLIFIC and participant and submission:
        return enter(study, participant_id=participant, submission_id=submission, simulated=simulated)
    if study.platform == Study.Platform.NONE and request.method == "POST":
        token = usable_id(request.POST.get("token"))
        return enter_without_platform(study, token=token, simulated=simulated) if token else None
    known = Session.objects.filter(study=study, key=usable_id(request.COOKIES.get(COOKIE))).first()
    return Entered(known, resumed=True) if known else None


def _say_how_to_enter(request: HttpRequest, study: Study) -> HttpResponse:
    if study.status != Study.Status.OPEN:
        return _say(request, study, "closed")
    if study.platform == Study.Platform.NONE:
        return _say(request, study, "begin", token=new_key())
    return _say(request, study, "no_platform_id")


def _say_missing(request: HttpRequest) -> HttpResponse:
    context = {"title": "There is no study at this address"}
    return render(request, "studies/participant/missing.html", context, status=404)


def _say(request: HttpRequest, study: Study, page: str, *, status: int = 200, **context: Any) -> HttpResponse:
    texts = study.texts if isinstance(study.texts, dict) else {}
    context |= {"study": study, "title": texts.get("title") or study.name, "design": study.design}
    context["prose"] = render_markdown(texts.get(page, ""))
    return render(request, f"studies/participant/{page}.html", context, status=status)


def _sessions(key: str) -> QuerySet[Session]:
    return Session.objects.filter(study__key=key).select_related("study__project", "study__instrument", "respondent")


@never_cache
@require_GET
def participant_session(request: HttpRequest, key: str, session_key: str) -> HttpResponse:
    """The person's next screen, or how their session ended."""
    session = _sessions(key).filter(key=session_key).first()
    if session is None:
        return _say_missing(request)
    screen = current_screen(session) if session.status == Session.Status.STARTED else None
    notice = _notice(request.GET, session)
    if screen is None:
        return _end(request, session, notice)
    return render(request, _template(screen), screen_context(screen) | notice)


@csrf_exempt
@never_cache
@require_http_methods(["GET", "POST"])
def participant_screen(request: HttpRequest, key: str, session_key: str, position: int) -> HttpResponse:
    """Takes what was sent for one screen, once, and goes on to the next; or to the same with what must be mended.

    It always redirects: Back and reload then reach pages, never a form that the browser wants to send again.
    """
    address = reverse("participant_session", kwargs={"key": key, "session_key": session_key})
    if request.method == "GET":  # no page is at this address; somebody opened the form's by hand
        return redirect(address)
    session = _sessions(key).filter(key=session_key).first()
    if session is None:
        return _say_missing(request)
    form, tries = request.POST, str(request.POST.get("tries", ""))
    try:
        submission = submit_screen(
            session=session,
            position=position,
            answers=_form_answers(form, session.study),
            asked=form.getlist("asked"),
            tries=int(tries) if tries.isdecimal() and len(tries) < 3 else None,
            paradata=read_paradata(str(form.get("paradata", ""))),
            language=str(form.get("language", ""))[:20],
        )
    except AnswersRefusedError:
        return redirect(address)
    notes = {"stored": "", "kept": f"?note=kept&page={position}", "not_reached": "?note=not_reached"}
    return redirect(address + notes[submission.state])


@csrf_exempt
@never_cache
@require_POST
def participant_draft(request: HttpRequest, key: str, session_key: str, position: int) -> HttpResponse:
    """Keeps what is typed on a screen and not sent yet."""
    session = _sessions(key).filter(key=session_key).first()
    if session is None:
        return HttpResponse(status=404)
    saved = save_draft(session=session, position=position, answers=_form_answers(request.POST, session.study))
    return HttpResponse(status=204 if saved else 409)


def _form_answers(form: QueryDict, study: Study) -> dict[str, Any]:
    """The form's values by question code."""
    values: dict[str, Any] = {code: clean_text(str(form[code])) for code in form}
    for code, question in study.questions.items():
        value = form_value(question, code, form)
        if value:
            values[code] = value
    return values


def _notice(query: QueryDict, session: Session) -> dict[str, Any]:
    """A sentence for what has just happened, with what was stored where a second answer came."""
    note, page = str(query.get("note", "")), str(query.get("page", ""))
    if note != "kept" or not page.isdecimal():
        return {"note": note}
    screen = session.screens.filter(position=int(page[:4]), answered_at__isnull=False)
    kept = screen.select_related("item").first()
    if kept is None:
        return {"note": ""}
    kept.session = session
    return {"note": note, "kept": kept, "kept_page": kept.position + 1, "kept_answers": stored_answers(kept)}


def _template(screen: Screen) -> str:
    return (
        "studies/participant/consent.html" if screen.kind == Screen.Kind.CONSENT else "studies/participant/screen.html"
    )


def _end(request: HttpRequest, session: Session, notice: dict[str, Any]) -> HttpResponse:
    """The page of the outcome. The code was earned by what is committed already: this only reads."""
    study = session.study
    code = study.completion_codes.get(session.status, "")
    back = PROLIFIC_RETURN + urlencode({"cc": code}) if study.platform == Study.Platform.PROLIFIC and code else ""
    outcome = session.status
    return _say(request, study, outcome, outcome=outcome, code=code, back=back, session=session, **notice)
