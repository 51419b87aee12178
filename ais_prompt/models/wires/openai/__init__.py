"""Language models behind servers with the wire format of OpenAI."""
