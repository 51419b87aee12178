"""Models behind an API: from a request to the completion of one POST.

model         the base of all such models: their options, `open`, `complete`
asking        where and how often a request is sent; `pace` has its rate limits, `outage` the state of a server
attempt       one POST: a body on the wire, the reply as a completion or a failure
stream        a reply that comes piece by piece
server_words  what the words of a server mean, and what to change then
chat, responses, messages    wire formats: body out, reply in; `wire` is what they share
openai_models                the models of OpenAI's formats, with log-likelihoods in the forms of `log_probs`
addresses                    where a model is served
written_replies              replies as servers write them, for the mock server
"""
