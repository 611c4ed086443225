import { addErrors, type ErrorTable, type MakeError } from './error.ts'

/** The errors that only servers on HTTP throw. */
// oxfmt-ignore
export const HTTP_ERRORS = {
  version_header:       { where: 'wire', code: -32600, http: 400, refusal: 'INVALID_PROTOCOL_VERSION', text: 'the MCP-Protocol-Version header "{version}" is not supported', hint: 'Send the version that initialize agreed on.' },
  forbidden_host:       { where: 'wire', code: -32600, http: 403, text: 'the Host "{host}" is not served here', hint: 'Name the host in http.hosts.' },
  forbidden_origin:     { where: 'wire', code: -32600, http: 403, text: 'the Origin "{origin}" is not allowed', hint: 'Name the origin in http.cors.' },
  forbidden_certificate: { where: 'wire', code: -32600, http: 403, text: 'the certificate of the client is not accepted: {reason}', hint: 'Name its authority in tls.ca, or its fingerprint in tls.pin.' },
  bad_accept:           { where: 'wire', code: -32600, http: 406, text: 'the client accepts neither application/json nor text/event-stream', hint: 'Send Accept: application/json, text/event-stream.' },
  bad_type:             { where: 'wire', code: -32600, http: 415, refusal: 'INVALID_CONTENT_TYPE', text: 'the content type is not application/json', hint: 'Send Content-Type: application/json.' },
  bad_encoding:         { where: 'wire', code: -32600, http: 415, refusal: 'UNSUPPORTED_ENCODING', text: 'the content encoding "{encoding}" is not accepted', hint: 'Send the body uncompressed.' },
  bad_verb:             { where: 'wire', code: -32600, http: 405, text: 'the verb {verb} is not accepted here', hint: 'Use POST; sessions of 2025 also use GET and DELETE.' },
  unknown_path:         { where: 'wire', code: -32600, http: 404, text: 'nothing is served at this path', hint: 'POST to the path that the server printed, by default /mcp.' },
  upgrade_required:     { where: 'wire', code: -32600, http: 426, text: 'only WebSocket is served here', hint: 'Connect with a ws or wss URL.' },
  bad_upgrade:          { where: 'wire', code: -32600, http: 400, text: 'the connection cannot be upgraded: {reason}', hint: 'Ask for a WebSocket of version 13, with the sub-protocol mcp or mcp.v1, or none.' },
  session_required:     { where: 'wire', code: -32600, http: 400, refusal: 'INVALID_SESSION_ID', text: 'the Mcp-Session-Id header is missing', hint: 'Send initialize first and repeat the session id it answered.' },
  unknown_session:      { where: 'wire', code: -32001, http: 404, refusal: 'INVALID_SESSION_ID', text: 'the session does not exist or has ended', hint: 'Send initialize again without a session id.' },
  stream_exists:        { where: 'wire', code: -32600, http: 409, text: 'this session has an open stream already', hint: 'Close the other stream, or resume it with Last-Event-ID.' },
  unknown_event:        { where: 'wire', code: -32600, http: 400, text: 'Last-Event-ID names no event of this session', hint: 'Open a new stream without Last-Event-ID.' },
  bad_http:             { where: 'wire', code: -32600, http: 400, refusal: 'PROTOCOL_ERROR', text: 'the request is not valid HTTP/1.1', hint: 'Send HTTP/1.1 without ambiguities.' },
  head_too_large:       { where: 'wire', code: -32600, http: 431, refusal: 'INVALID_HEADER', text: 'the head of the request is larger than {limit} bytes', hint: 'Send fewer or shorter headers, or raise limits.headBytes.' },
  too_many_headers:     { where: 'wire', code: -32600, http: 431, refusal: 'INVALID_HEADER', text: 'the request has more than {limit} headers', hint: 'Send fewer headers, or raise limits.headers.' },
  slow_sender:          { where: 'wire', code: -32600, http: 408, refusal: 'TIMEOUT', retryable: true, text: 'the request did not come in time', hint: 'Send faster, or raise limits.headersMs or limits.bodyMs.' },
  too_many_bytes:       { where: 'wire', code: 1002, http: 429, refusal: 'QUEUE_BYTE_CAP_EXCEEDED', retryable: true, text: 'the server is reading too many bytes at once', hint: 'Try again later.' },
  too_much_unsent:      { where: 'wire', code: 1004, http: 503, refusal: 'BUFFER_OVERFLOW', retryable: true, text: 'too much waits for clients that read slowly', hint: 'Read answers as they come, and try again later; limits.unsentBytes says how much may wait.' },
} as const
HTTP_ERRORS satisfies ErrorTable

export type HttpErrorKind = keyof typeof HTTP_ERRORS

export const httpError: MakeError<typeof HTTP_ERRORS> = /* @__PURE__ */ addErrors(HTTP_ERRORS)
