/* Errors of HTTP. */

export const VERSION_HEADER = {
  kind: 'version_header',
  code: -32600,
  http: 400,
  refusal: 'INVALID_PROTOCOL_VERSION',
  text: 'the MCP-Protocol-Version header "{version}" is not supported',
  hint: 'Send the version that initialize agreed on.',
} as const

export const FORBIDDEN_HOST = {
  kind: 'forbidden_host',
  code: -32600,
  http: 403,
  text: 'the Host "{host}" is not served here',
  hint: 'Use a name that the server was given in the option hosts, or add this one there.',
} as const

export const FORBIDDEN_ORIGIN = {
  kind: 'forbidden_origin',
  code: -32600,
  http: 403,
  text: 'the Origin "{origin}" is not allowed',
  hint: 'Add the origin to the option cors; for pages of the server itself, add its host to hosts.',
} as const

export const FORBIDDEN_CERTIFICATE = {
  kind: 'forbidden_certificate',
  code: -32600,
  http: 403,
  text: 'the certificate of the client is not accepted: {reason}',
  hint: 'Add its authority to tls.ca, or its fingerprint to tls.pin.',
} as const

export const BAD_ACCEPT = {
  kind: 'bad_accept',
  code: -32600,
  http: 406,
  text: 'the client accepts neither application/json nor text/event-stream; send Accept: application/json, text/event-stream',
  hint: 'Send Accept: application/json, text/event-stream.',
} as const

export const BAD_TYPE = {
  kind: 'bad_type',
  code: -32600,
  http: 415,
  refusal: 'INVALID_CONTENT_TYPE',
  text: 'the content type is not application/json; send Content-Type: application/json',
  hint: 'Send Content-Type: application/json.',
} as const

export const BAD_ENCODING = {
  kind: 'bad_encoding',
  code: -32600,
  http: 415,
  refusal: 'UNSUPPORTED_ENCODING',
  text: 'the content encoding "{encoding}" is not accepted',
  hint: 'Send the body uncompressed.',
} as const

export const BAD_TRANSFER = {
  kind: 'bad_transfer',
  code: -32600,
  http: 501,
  refusal: 'UNSUPPORTED_ENCODING',
  text: 'the transfer encoding "{encoding}" is not supported',
  hint: 'Send the body with Content-Length, or with Transfer-Encoding: chunked.',
} as const

export const BAD_VERB = {
  kind: 'bad_verb',
  code: -32600,
  http: 405,
  text: 'the HTTP method {verb} is not allowed here; {instead}',
  hint: 'Use POST; sessions of 2025 also use GET and DELETE, and jobs of the gist only GET.',
} as const

export const SSE_VERB = {
  kind: 'sse_verb',
  code: -32600,
  http: 405,
  text: 'this path is for HTTP+SSE, which has no 2026-07-28 and begins with GET; send MCP messages with POST to {path}',
  hint: 'Connect to the other path, or leave out the option revision.',
} as const

export const BODY_READ = {
  kind: 'body_read',
  code: -32603,
  http: 500,
  text: 'a body parser has already read the request body; pass it on, parsed, as text or as bytes: {how}',
  hint: 'Pass on the body that was read, or mount the server where no parser has read it.',
} as const

export const BAD_CALLER = {
  kind: 'bad_caller',
  code: -32603,
  http: 500,
  text: 'the web framework gave {given} as the caller; set auth to an object whose sub identifies the user, or to undefined for an anonymous caller',
  hint: 'Set request.auth, or the auth passed to the function of fetchWith, to an object with sub and scopes. Neither a token nor a client id identifies a user.',
} as const

export const BODY_BROKEN = {
  kind: 'body_broken',
  code: -32700,
  http: 400,
  refusal: 'PROTOCOL_ERROR',
  text: 'the body is incomplete or cannot be decoded',
  hint: 'Send the whole body, encoded as its headers say.',
} as const

export const UNKNOWN_PATH = {
  kind: 'unknown_path',
  code: -32600,
  http: 404,
  text: 'nothing is served at {path}{served}',
  hint: 'Send MCP messages to the path that listen() was given, by default /mcp.',
} as const

export const UPGRADE_REQUIRED = {
  kind: 'upgrade_required',
  code: -32600,
  http: 426,
  text: 'only WebSocket is served here',
  hint: 'Connect with a ws or wss URL.',
} as const

export const BAD_UPGRADE = {
  kind: 'bad_upgrade',
  code: -32600,
  http: 400,
  text: 'the connection cannot be upgraded: {reason}',
  hint: 'Request a WebSocket of version 13, with the subprotocol mcp or mcp.v1, or none.',
} as const

export const SESSION_REQUIRED = {
  kind: 'session_required',
  code: -32600,
  http: 400,
  refusal: 'INVALID_SESSION_ID',
  text: 'the Mcp-Session-Id header is missing; send initialize first',
  hint: 'Send initialize first, then repeat the session id from its answer.',
} as const

export const UNKNOWN_SESSION = {
  kind: 'unknown_session',
  code: -32001,
  http: 404,
  refusal: 'SESSION_INVALID',
  text: 'the session does not exist or has ended; send initialize again',
  hint: 'Send initialize again without a session id.',
} as const

export const STREAM_EXISTS = {
  kind: 'stream_exists',
  code: -32600,
  http: 409,
  text: 'this session already has an open stream',
  hint: 'Close the other stream, or resume it with Last-Event-ID.',
} as const

export const UNKNOWN_EVENT = {
  kind: 'unknown_event',
  code: -32600,
  http: 400,
  text: 'Last-Event-ID does not name an event of this session',
  hint: 'Open a new stream without Last-Event-ID.',
} as const

export const BAD_HTTP = {
  kind: 'bad_http',
  code: -32600,
  http: 400,
  refusal: 'PROTOCOL_ERROR',
  text: 'the request is not valid HTTP/1.1',
  hint: 'Send a well-formed, unambiguous HTTP/1.1 request.',
} as const

export const HEAD_TOO_LARGE = {
  kind: 'head_too_large',
  code: -32600,
  http: 431,
  refusal: 'INVALID_HEADER',
  text: 'the head of the request is larger than {limit} bytes',
  hint: 'Send fewer or shorter headers, or raise limits.headBytes.',
} as const

export const TOO_MANY_HEADERS = {
  kind: 'too_many_headers',
  code: -32600,
  http: 431,
  refusal: 'INVALID_HEADER',
  text: 'the request has more than {limit} headers',
  hint: 'Send fewer headers, or raise limits.headers.',
} as const

export const HEADER_MISMATCH = {
  kind: 'header_mismatch',
  code: -32020,
  http: 400,
  refusal: 'INVALID_HEADER',
  text: 'the header {header} {reason}',
  hint: 'Repeat the value from the body exactly in the header.',
} as const

export const NODE_STOPPING = {
  kind: 'node_stopping',
  code: 1078,
  http: 503,
  refusal: 'SERVICE_UNAVAILABLE',
  retryable: true,
  text: 'this node is stopping, and other nodes go on with its sessions',
  hint: 'Send the request again, in the same session.',
} as const

export const NODE_LOST = {
  kind: 'node_lost',
  code: -32603,
  refusal: 'TRANSPORT_ERROR',
  retryable: true,
  text: 'the node that ran the request stopped before it answered',
  hint: 'Send the request again if that is safe: part of its work may be done.',
} as const
