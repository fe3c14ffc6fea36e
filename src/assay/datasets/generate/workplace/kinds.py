"""All kinds of pages, by key."""

from __future__ import annotations

from assay.datasets.generate.workplace.text.asset import ASSET
from assay.datasets.generate.workplace.text.committee import COMMITTEE
from assay.datasets.generate.workplace.text.course import COURSE
from assay.datasets.generate.workplace.text.customer import CUSTOMER
from assay.datasets.generate.workplace.text.incident import INCIDENT
from assay.datasets.generate.workplace.text.person import PERSON
from assay.datasets.generate.workplace.text.policy import POLICY
from assay.datasets.generate.workplace.text.procedure import PROCEDURE, STEPS
from assay.datasets.generate.workplace.text.product import PRODUCT
from assay.datasets.generate.workplace.text.project import PROJECT
from assay.datasets.generate.workplace.text.release import RELEASE
from assay.datasets.generate.workplace.text.service import SERVICE
from assay.datasets.generate.workplace.text.site import SITE
from assay.datasets.generate.workplace.text.talk import MEMO, MINUTES, THREAD
from assay.datasets.generate.workplace.text.team import TEAM
from assay.datasets.generate.workplace.text.vendor import VENDOR

_ALL = (
    *(PERSON, TEAM, SERVICE, PRODUCT, PROJECT, VENDOR, CUSTOMER, POLICY, PROCEDURE, RELEASE, INCIDENT, ASSET),
    *(COURSE, SITE, COMMITTEE, MINUTES, MEMO, THREAD),
)
KINDS = {kind.key: kind for kind in _ALL}
STEP_PATTERNS = STEPS
FILL = MEMO.key
