"""The features of this service. To remove one: its folder, its face, and its line here."""

from __future__ import annotations

from typing import Final

from orchestration.feature import Features

# Names rather than imports: a command that asks a question would else wait for all that it does not ask.
FEATURES: Final = Features(
    {
        "tagging": ["tags"],
        "consolidation": ["consolidation"],
        "withholding": ["kept", "retention", "erasure", "tells"],
        "revaluation": ["kept", "revaluation"],
        "mirror": ["mirror", "keeper", "pages"],
        "contexts": ["kept"],
        "feedback": ["kept", "learned"],
        "imagination": ["kept", "calibration", "outcome"],
        "rules": ["kept", "rules"],
        "offers": ["offers"],
        "appetite": ["pressure"],
        "sharing": ["contested"],
        "shape": ["by_shape"],
        "situation": [],
        "replay": [],
        "association": [],
        "identity": ["learning"],
        "life": [],
        "webhooks": ["kept", "work"],
        "memory_tool": [],
    }
)
