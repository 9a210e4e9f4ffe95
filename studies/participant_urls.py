from django.urls import path

from studies import participant_views as views

urlpatterns = [
    path("<slug:key>/", views.participant_entry, name="participant_entry"),
    path("<slug:key>/<slug:session_key>/", views.participant_session, name="participant_session"),
    path("<slug:key>/<slug:session_key>/<int:position>/", views.participant_screen, name="participant_screen"),
    path("<slug:key>/<slug:session_key>/<int:position>/draft/", views.participant_draft, name="participant_draft"),
]
