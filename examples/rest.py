"""Substrate over REST; needs a service: `substrate serve`, and its key in SUBSTRATE_API_KEY."""

import httpx

from schemas.settings import ClientSettings

service = ClientSettings()
key = service.api_key.get_secret_value() if service.api_key else None
headers = {"Authorization": f"Bearer {key}"} if key else {}  # `substrate serve --open` needs none
memory = {"citizen_id": "rest", "name": "Tom drinks his tea with milk"}
question = {"citizen_id": "rest", "query_text": "How does Tom take his tea?", "form": "compact"}
try:
    with httpx.Client(base_url=service.base_url, headers=headers) as http:
        http.post("/v1/memories", json=memory).raise_for_status()
        print(http.post("/v1/retrieve", json=question).raise_for_status().json()["text"])
except httpx.HTTPError as error:
    raise SystemExit(f"{error}\nStart `substrate serve`, and put its key into SUBSTRATE_API_KEY.") from None
