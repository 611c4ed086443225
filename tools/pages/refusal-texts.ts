import type { RefusalName } from '../../src/protocol/refusals.ts'

export interface Explained {
  /** Why it happens. */
  readonly cause: string
  /** What to do about it. */
  readonly fix: string
}

/** The cause of each refusal, and the fix. */
// oxfmt-ignore
export const REFUSAL_TEXTS: Readonly<Record<RefusalName, Explained>> = {
  // Queues
  QUEUE_CAP_EXCEEDED: { cause: 'The queue of waiting requests is full.', fix: 'Send fewer requests at once. Operators can raise `limits.queued` or shorten the work.' },
  QUEUE_BYTE_CAP_EXCEEDED: { cause: 'The messages being read or queued would use more memory than the server allows.', fix: 'Send smaller messages, or fewer at once. Operators can raise `limits.unparsedBytes` or `limits.queuedBytes`.' },
  QUEUE_TENANT_CAP_EXCEEDED: { cause: 'The caller has too many queued requests; other callers are still served.', fix: 'Wait for answers before sending more. Operators can raise `limits.queuedPerCaller`.' },
  BUFFER_OVERFLOW: { cause: 'Too much output is waiting for clients that read slowly.', fix: 'Read answers as they arrive. Operators can raise `limits.unsentBytes`.' },
  BACKPRESSURE_ACTIVE: { cause: 'The server is already working on as many requests as it can.', fix: 'Send the request again after `retryAfterMs`. Operators can raise `limits.allInFlight` or add servers.' },

  // Authentication
  AUTH_FAILED: { cause: 'The server did not accept the credentials.', fix: 'Check which authority the server trusts, and get credentials from it.' },
  AUTH_EXPIRED: { cause: 'The credentials have expired.', fix: 'Give `connect` the option `auth`, such as `browser()` or `token()` of `pierhead/auth/client`, which renews them.' },
  AUTH_INVALID_CREDENTIALS: { cause: 'The credentials are malformed or were never valid.', fix: 'Compare the `authorization` header with what the authority issued.' },
  AUTHZ_FORBIDDEN: { cause: 'The caller is authenticated but not allowed to do this.', fix: 'Ask for permission, or call as a user who has it; repeating the request does not help.' },
  AUTH_MISSING: { cause: 'The request has no credentials, but the server requires them.', fix: 'Give `connect` the option `auth`: `connect(url, { auth: browser() })`, with `browser` from `pierhead/auth/client`.' },
  SESSION_INVALID: { cause: 'The session does not exist, has ended or belongs to another caller.', fix: 'Open a new session; our client does so once and repeats the request.' },

  // Validation
  INVALID_PARAMS: { cause: 'The parameters do not match the schema of the method, tool or prompt.', fix: 'Read the message and `data.field`, and correct the value.' },
  INVALID_JSON_SCHEMA: { cause: 'The schema of a tool or prompt is unusable: it is malformed, too deep, refers to another document, or has a pattern that can be made slow.', fix: 'Correct the schema at the place named in the message. Schemas are checked when a tool is defined, never during a call.' },
  INVALID_URI: { cause: 'A URI is malformed or longer than `limits.uriLength`.', fix: 'Use a URI from `resources/list`, or fill in a template.' },
  INVALID_CONTENT_TYPE: { cause: 'The body of an HTTP request is not `application/json`.', fix: 'Send `Content-Type: application/json`.' },
  INVALID_HEADER: { cause: 'A header contradicts the body, or the headers are too many or too long.', fix: 'Repeat the value from the body exactly in the header; remove headers you do not need.' },
  INVALID_SESSION_ID: { cause: 'The `Mcp-Session-Id` header is missing.', fix: 'Send `initialize` and use the id from its answer; our client does so by itself.' },
  INVALID_PROTOCOL_VERSION: { cause: 'The server does not support the requested version here.', fix: 'Use one of `data.supported`, or the version agreed in the handshake.' },
  MISSING_REQUIRED_FIELD: { cause: 'A required field is missing.', fix: 'Add the field named in `data.field`.' },
  FIELD_TYPE_MISMATCH: { cause: 'A field has a different type than its schema requires.', fix: 'Send a value of type `data.expectedType` in the field named in `data.field`; `data.details` describes the problem.' },

  // Paths
  PATH_TRAVERSAL_DETECTED: { cause: 'A path leads outside the served folder.', fix: 'Name files inside the folder; the server treats such a request as an attack.' },
  PATH_INVALID: { cause: 'A path contains characters or has a form that the server does not allow.', fix: 'Use a path from a list.' },
  SYMLINK_TRAVERSAL_DETECTED: { cause: 'A symbolic link leads outside the served folder.', fix: 'Put the file itself inside the folder.' },
  URI_OUT_OF_BOUNDS: { cause: 'A URI refers to something that is not served.', fix: 'Use a URI from `resources/list`.' },
  CANONICAL_PATH_VIOLATION: { cause: 'A path is not in its canonical form.', fix: 'Write it without `.`, `..`, repeated slashes and unnecessary escapes.' },

  // Entities
  RESOURCE_NOT_FOUND: { cause: 'No resource or template matches the URI, or the caller may not see it.', fix: 'List the resources and templates first.' },
  RESOURCE_DUPLICATE: { cause: 'A resource with this URI already exists.', fix: 'Remove the existing one or choose another URI. The check happens when the resource is defined.' },
  TOOL_NOT_FOUND: { cause: 'No tool has this name, or the caller may not see it.', fix: 'List the tools first; the message suggests the closest name.' },
  TOOL_DUPLICATE: { cause: 'A tool with this name already exists.', fix: 'Remove the existing one or choose another name. The check happens when the tool is defined.' },
  PROMPT_NOT_FOUND: { cause: 'No prompt has this name, or the caller may not see it.', fix: 'List the prompts first; the message suggests the closest name.' },
  PROMPT_DUPLICATE: { cause: 'A prompt with this name already exists.', fix: 'Remove the existing one or choose another name. The check happens when the prompt is defined.' },
  ENTITY_DUPLICATE: { cause: 'An entity with this name already exists.', fix: 'Remove the existing one or choose another name.' },

  // Rates
  RATE_LIMIT_EXCEEDED: { cause: 'The caller exceeded its request rate.', fix: 'Send fewer requests; wait for `retryAfterMs`.' },
  RATE_LIMIT_PER_SECOND: { cause: 'The caller exceeded its requests per second.', fix: 'Spread requests over time.' },
  RATE_LIMIT_PER_MINUTE: { cause: 'The caller exceeded its requests per minute.', fix: 'Spread requests over time.' },
  QUOTA_EXCEEDED: { cause: 'The caller has used up its quota.', fix: 'Wait for the next period, or ask for a larger quota.' },
  CONCURRENT_LIMIT_EXCEEDED: { cause: 'The caller has too many requests in flight.', fix: 'Wait for answers before sending more. Operators can raise `limits.inFlight` or `limits.streams`.' },

  // Protocol and transport
  PROTOCOL_ERROR: { cause: 'The message is not valid JSON-RPC, or is not allowed here.', fix: 'Read the message; it names the rule.' },
  TRANSPORT_ERROR: { cause: 'The connection could not be opened, or broke before the answer arrived.', fix: 'Check that the server is running; repeat requests that are safe to repeat.' },
  MESSAGE_TOO_LARGE: { cause: 'The message is larger than the transport allows; `data.maxSize` is the limit.', fix: 'Send less at once, or raise the limit of the transport.' },
  TIMEOUT: { cause: 'Something did not happen in time.', fix: 'Ask for less, send faster, or raise the timeout.' },
  UNSUPPORTED_ENCODING: { cause: 'The body of an HTTP request is compressed.', fix: 'Send it uncompressed.' },

  // State of the server
  SERVER_UNINITIALIZED: { cause: 'A request arrived before `initialize`.', fix: 'Send `initialize` first; our client opens a new connection and repeats the request.' },
  SERVER_SHUTTING_DOWN: { cause: 'The server is shutting down: it finishes running requests and rejects new ones.', fix: 'Connect again after `retryAfterMs`; our client does so and lets running requests finish.' },
  SERVICE_UNAVAILABLE: { cause: 'The server is temporarily unavailable.', fix: 'Send the request again later.' },
  INTERNAL_ERROR: { cause: 'An unexpected error occurred. The server log has the details under the reference in the message.', fix: 'Look up the reference in the log. The same request may succeed once the fault is mended, so it counts as retryable; our client does not repeat it by itself, because the fault is most likely still there.' },
  DEPENDENCY_UNAVAILABLE: { cause: 'The server cannot reach something it depends on.', fix: 'Send the request again later, if that is safe.' },

  // Health
  CIRCUIT_BREAKER_OPEN: { cause: 'An operation failed so often that the server has paused it.', fix: 'Send the request again later.' },
  HEALTH_CHECK_FAILED: { cause: 'The server reports itself unhealthy.', fix: 'Send the request again later, or use another server.' },
  DEGRADED_SERVICE: { cause: 'The server currently handles only its most important work.', fix: 'Send the request again later.' },
  RESOURCE_EXHAUSTED: { cause: 'The server has reached its limit of sessions or connections.', fix: 'Close unused ones. Operators can raise `limits.sessions` or `limits.connections`.' },

  // Experimental
  ELICITATION_FAILED: { cause: 'The user could not be asked.', fix: 'Continue without the answer, or ask in another way.' },
  ELICITATION_TIMEOUT: { cause: 'The user did not answer in time.', fix: 'Ask again when the user is available, or raise `limits.questionMs`.' },
  ELICITATION_CANCELLED: { cause: 'The user or the client cancelled the question.', fix: 'Continue without the answer.' },
  INVALID_ELICITATION_MODE: { cause: 'The client does not support this kind of question.', fix: 'Check `ctx.client.supports()` before asking.' },
  ELICITATION_SECURITY_ERROR: { cause: 'The question asked for something that this mode must not ask for, such as a password in a form.', fix: 'Ask for secrets at a URL, never in a form.' },
  TASK_NOT_FOUND: { cause: 'No task has this id, or it belongs to another caller.', fix: 'Use the id returned when the task was created.' },
  TASK_DEPENDENCY_FAILED: { cause: 'Something the task depends on failed.', fix: 'Resolve that first, then start the task again.' },
  TASK_CANCELLED: { cause: 'The task was cancelled.', fix: 'Start it again if you still need it.' },
  TASK_TIMEOUT: { cause: 'The task did not finish in time.', fix: 'Give it more time or less work.' },
  INVALID_TASK_STATE: { cause: 'The task is in a state that does not allow this.', fix: 'Check its state first.' },
}
