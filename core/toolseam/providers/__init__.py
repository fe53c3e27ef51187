"""What a provider plugin needs: the messages, the request and its reply, and how it may fail.

A provider is given by the hook `toolseam_provider` of a plugin, or by host code. Its one method
`complete(request)` may be async; `stream(request)` is optional. `Lowering` puts the tools of a
request in the words of a maker's API, and brings the calls back; `exposed_names` makes names that
somebody else's rule takes, or ours.
"""

from toolseam._endpoints import Endpoint
from toolseam._lowering import Dialect, Lowered, Lowering
from toolseam._lowering._names import TOOL_NAMES, NameRule, exposed_names
from toolseam._messages import (
    AssistantMessage,
    Delta,
    Finish,
    Message,
    Provider,
    ProviderError,
    ProviderFault,
    Reply,
    Request,
    StreamingProvider,
    SystemMessage,
    ToolCall,
    ToolMessage,
    Usage,
    UserMessage,
)

__all__ = [
    "TOOL_NAMES",
    "AssistantMessage",
    "Delta",
    "Dialect",
    "Endpoint",
    "Finish",
    "Lowered",
    "Lowering",
    "Message",
    "NameRule",
    "Provider",
    "ProviderError",
    "ProviderFault",
    "Reply",
    "Request",
    "StreamingProvider",
    "SystemMessage",
    "ToolCall",
    "ToolMessage",
    "Usage",
    "UserMessage",
    "exposed_names",
]
