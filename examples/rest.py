"""Substrate over REST; needs a service: `substrate serve`, and its key in SUBSTRATE_API_KEY."""

import httpx

from schemas.settings import ClientSettings

service = ClientSettings()
key = service.api_key.get_secret_value() if service.api_key else ""
with httpx.Client(base_url=service.base_url, headers={"Authorization": f"Bearer {key}"}) as http:
    http.post(
        "/v1/memories", json={"citizen_id": "rest", "name": "Tom drinks his tea with milk"}
    ).raise_for_status()
    question = {"citizen_id": "rest", "query_text": "How does Tom take his tea?", "form": "compact"}
    print(http.post("/v1/retrieve", json=question).raise_for_status().json()["text"])
