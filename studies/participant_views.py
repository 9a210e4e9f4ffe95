"""The pages of a participant: a stranger who reaches one session, their own, by its unguessable key.

Posts are exempt from CSRF tokens: the key in the address is what authorises, no cookie does, so another site cannot act
for a person whose key it does not know; and a token would lose answers when its cookie has expired or is blocked.
Query strings carry platform ids: nothing here logs them, and the redirect takes them out of the address.
"""

from typing import Any

from django.core import signing
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from materials.form_values import clean_text, form_value
from projects.markdown import render_markdown
from projects.prepared import prepared_statements
from studies.design import DesignError, Texts
from studies.models import Screen, Session, Study, new_key
from studies.pages import (
    context_without_study,
    language_context,
    screen_context,
    stored_answers,
    wanted_languages,
)
from studies.paradata import read_paradata
from studies.pilot import PARAMETER, is_pilot
from studies.platform_api import PlatformError
from studies.platform_signatures import SignatureError
from studies.published import find_screen, find_session
from studies.services import (
    AnswersRefusedError,
    Entered,
    StudyNotOpenError,
    enter,
    enter_pilot,
    enter_without_platform,
    save_draft,
    set_language,
    show_screen,
    submit_screen,
)
from studies.services.entry import usable_id
from studies.services.platform_entry import check_signed_entry, session_of_browser
from studies.simulation import is_simulated
from studies.translating import ENGLISH, Translated, Translation, choose_language, translated

COOKIE = "session_key"
COOKIE_SECONDS = 30 * 24 * 60 * 60
PLATFORM_IDS = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
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
        return _say_closed(request, study)
    except SignatureError:
        return _say(request, study, "not_signed", status=403)
    except PlatformError:
        return _say(request, study, "not_checked", status=503)
    if entered is None:
        return _say(request, study, "begin", token=new_key()) if pilot else _say_how_to_enter(request, study)
    _choose_language(request, study, entered.session)
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


def _choose_language(request: HttpRequest, study: Study, session: Session) -> None:
    """In a study of several languages: the one that the link asks for, or at first the person's browser."""
    if len(study.languages) > 1 and ("lang" in request.GET or not session.language):
        set_language(session=session, language=_language(request, study))


def _language(request: HttpRequest, study: Study) -> str:
    return choose_language(study.languages, wanted_languages(request, str(request.GET.get("lang", ""))))


def _enter_pilot(request: HttpRequest, study: Study) -> Entered | None:
    token = usable_id(request.POST.get("token"))
    return enter_pilot(study, token=token) if token else None


def _enter(request: HttpRequest, study: Study, *, simulated: bool) -> Entered | None:
    """None when the request does not say who comes. Raises SignatureError and PlatformError where links are signed."""
    participant = usable_id(request.GET.get("PROLIFIC_PID"))
    submission = usable_id(request.GET.get("SESSION_ID"))
    if study.platform == Study.Platform.PROLIFIC and participant and submission:
        if study.signed_entry and not simulated:
            cookie = usable_id(request.COOKIES.get(COOKIE))
            if begun := session_of_browser(study, session_key=cookie, participant_id=participant):
                return Entered(begun, resumed=True)
            _check_signed(request, study)
        return enter(study, participant_id=participant, submission_id=submission, simulated=simulated)
    if study.platform == Study.Platform.NONE and request.method == "POST":
        token = usable_id(request.POST.get("token"))
        return enter_without_platform(study, token=token, simulated=simulated) if token else None
    known = Session.objects.filter(study=study, key=usable_id(request.COOKIES.get(COOKIE))).first()
    return Entered(known, resumed=True) if known else None


def _check_signed(request: HttpRequest, study: Study) -> None:
    check_signed_entry(
        study,
        token=str(request.GET.get("prolific_token", "")),
        address=request.build_absolute_uri(request.path),
        query={name: str(request.GET[name]) for name in PLATFORM_IDS if name in request.GET},
    )


def _say_how_to_enter(request: HttpRequest, study: Study) -> HttpResponse:
    if study.status != Study.Status.OPEN:
        return _say_closed(request, study)
    if study.platform == Study.Platform.NONE:
        return _say(request, study, "begin", token=new_key())
    return _say(request, study, "no_platform_id")


def _say_closed(request: HttpRequest, study: Study) -> HttpResponse:
    return _say(request, study, "closed", **_code(study, "closed"))


def _say_missing(request: HttpRequest) -> HttpResponse:
    context = context_without_study(request, str(request.GET.get("lang", "")))
    return render(request, "studies/participant/missing.html", context, status=404)


def _say(
    request: HttpRequest, study: Study, page: str, *, status: int = 200, session: Session | None = None, **context: Any
) -> HttpResponse:
    words = _words(request, study, session)
    context |= language_context(words.language, words.phrases)
    context |= {"study": study, "session": session, "title": words.texts.title, "design": study.design}
    context["prose"] = render_markdown(getattr(words.texts, page, ""))
    return render(request, f"studies/participant/{page}.html", context, status=status)


def _words(request: HttpRequest, study: Study, session: Session | None) -> Translated:
    """The study in the session's language or, without a session, in one that the request asks for."""
    try:
        return translated(study, session.language if session else _language(request, study))
    except DesignError:  # a draft that is not finished
        return Translated("en", Texts(title=study.name, consent=study.name), ENGLISH, Translation())


@never_cache
@require_GET
@prepared_statements()
def participant_session(request: HttpRequest, key: str, session_key: str) -> HttpResponse:
    """The person's next screen, or how their session ended."""
    first = find_screen(key, session_key, answered_at=None)
    session = first.session if first else find_session(key, session_key)
    if session is None:
        return _say_missing(request)
    if request.GET.get("lang", session.language) != session.language:
        set_language(session=session, language=request.GET["lang"])
    screen = show_screen(first)
    notice = _notice(request.GET, session)
    if screen is None:
        return _end(request, session, notice)
    return render(request, _template(screen), screen_context(screen) | notice)


@csrf_exempt
@never_cache
@require_http_methods(["GET", "POST"])
@prepared_statements()
def participant_screen(request: HttpRequest, key: str, session_key: str, position: int) -> HttpResponse:
    """Takes what was sent for one screen, once, and goes on to the next; or to the same with what must be mended.

    It always redirects: Back and reload then reach pages, never a form that the browser wants to send again. The page's
    script, which names itself in X-Part, gets the address in X-Location and goes there itself.
    """
    address = reverse("participant_session", kwargs={"key": key, "session_key": session_key})
    if request.method == "GET":  # no page is at this address; somebody opened the form's by hand
        return redirect(address)
    screen = find_screen(key, session_key, position=position)
    if screen is None:
        known = find_session(key, session_key)
        return _lead_on(request, address + "?note=not_reached") if known else _say_missing(request)
    study, form = screen.session.study, request.POST
    tries, language = str(form.get("tries", "")), str(form.get("language", ""))
    try:
        submission = submit_screen(
            screen=screen,
            answers=_form_answers(form, study),
            asked=form.getlist("asked"),
            tries=int(tries) if tries.isdecimal() and len(tries) < 3 else None,
            paradata=read_paradata(str(form.get("paradata", ""))),
            language=language if language in study.languages else "",
        )
    except AnswersRefusedError:
        return _lead_on(request, address)
    except Screen.DoesNotExist:
        return _say_missing(request)
    notes = {"stored": "", "kept": f"?note=kept&page={position}", "not_reached": "?note=not_reached"}
    return _lead_on(request, address + notes[submission.state])


def _lead_on(request: HttpRequest, address: str) -> HttpResponse:
    if "X-Part" in request.headers:
        return HttpResponse(status=204, headers={"X-Location": address})
    return redirect(address)


@csrf_exempt
@never_cache
@require_POST
@prepared_statements()
def participant_draft(request: HttpRequest, key: str, session_key: str, position: int) -> HttpResponse:
    """Keeps what is typed on a screen and not sent yet."""
    screen = find_screen(key, session_key, position=position)
    if screen is None:
        return HttpResponse(status=404)
    saved = save_draft(screen=screen, answers=_form_answers(request.POST, screen.session.study))
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
    if note != "kept":
        return {"note": note}
    position = int(page) if page.isdecimal() and len(page) < 5 else -1
    screen = session.screens.filter(position=position, answered_at__isnull=False)
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
    study, outcome = session.study, session.status
    return _say(request, study, outcome, outcome=outcome, session=session, **_code(study, outcome), **notice)


def _code(study: Study, outcome: str) -> dict[str, Any]:
    """The code to give to the platform, "" without one, and where to go back with it."""
    code = study.completion_codes.get(outcome, "")
    back = PROLIFIC_RETURN + urlencode({"cc": code}) if study.platform == Study.Platform.PROLIFIC and code else ""
    return {"code": code, "back": back}
