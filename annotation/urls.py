from django.urls import path, register_converter

from annotation import (
    adjudication_views,
    bulk_views,
    export_views,
    hand_views,
    known_views,
    member_views,
    setup_views,
    views,
    work_views,
)
from annotation.addresses import PlaceConverter

register_converter(PlaceConverter, "place")

urlpatterns = [
    path("", views.labelling, name="labelling"),
    path("new/", setup_views.label_project_new, name="label_project_new"),
    path("<slug:label>/", views.label_project, name="label_project"),
    path("<slug:label>/status/", views.label_status, name="label_status"),
    path("<slug:label>/people/<int:pk>/", bulk_views.label_person, name="label_person"),
    path("<slug:label>/people/<int:pk>/<slug:action>/", bulk_views.label_bulk, name="label_person_bulk"),
    path("<slug:label>/bulk/<slug:action>/", bulk_views.label_bulk, name="label_bulk"),
    path("<slug:label>/hand/", hand_views.label_hand, name="label_hand"),
    path("<slug:label>/adjudicate/", adjudication_views.label_adjudicate, name="label_adjudicate"),
    path("<slug:label>/adjudicate/<int:pk>/", adjudication_views.label_adjudicate_item, name="label_adjudicate_item"),
    path("<slug:label>/adjudicate/<int:pk>/decide/", adjudication_views.label_decide, name="label_decide"),
    path(
        "<slug:label>/adjudicate/<int:pk>/next/", adjudication_views.label_adjudicate_next, name="label_adjudicate_next"
    ),
    path("<slug:label>/setup/", setup_views.label_setup, name="label_setup"),
    path("<slug:label>/setup/overlap/", setup_views.label_overlap, name="label_overlap"),
    path("<slug:label>/setup/items/", setup_views.label_items, name="label_items"),
    path("<slug:label>/guidelines/", setup_views.label_guidelines_versions, name="label_guidelines_versions"),
    path("<slug:label>/guidelines/publish/", setup_views.label_guidelines_publish, name="label_guidelines_publish"),
    path("<slug:label>/guidelines/<int:number>/", setup_views.label_example_remove, name="label_example_remove"),
    path("<slug:label>/members/", member_views.label_members, name="label_members"),
    path("<slug:label>/members/<int:pk>/", member_views.label_member, name="label_member"),
    path("<slug:label>/known/", known_views.label_known, name="label_known"),
    path("<slug:label>/known/item/", known_views.label_known_item, name="label_known_item"),
    path("<slug:label>/known/<int:pk>/remove/", known_views.label_known_remove, name="label_known_remove"),
    path("<slug:label>/right/<int:pk>/", known_views.label_right, name="label_right"),
    path("<slug:label>/download/", export_views.label_download, name="label_download"),
    path("<slug:label>/export.<str:format>", export_views.label_export, name="label_export"),
    path("<slug:label>/codebook.<str:format>", export_views.label_codebook, name="label_codebook"),
    path("<slug:label>/work/", work_views.work, name="label_work"),
    path("<slug:label>/work/guidelines/", work_views.guidelines, name="label_guidelines"),
    path("<slug:label>/work/guidelines/<int:version>/read/", work_views.guidelines_read, name="label_guidelines_read"),
    path("<slug:label>/work/answers/", work_views.own_answers, name="label_answers"),
    path("<slug:label>/work/back/", work_views.back, name="label_back"),
    path("<slug:label>/work/<place:pk>/", work_views.assignment, name="label_assignment"),
    path("<slug:label>/work/<place:pk>/draft/", work_views.draft, name="label_draft"),
    path("<slug:label>/work/<place:pk>/skip/", work_views.skip, name="label_skip"),
    path("<slug:label>/work/<place:pk>/flag/", work_views.flag, name="label_flag"),
]
