import type { RefusalName } from '../../src/protocol/refusals.ts'

export interface Explained {
  /** Why it happens. */
  readonly cause: string
  /** What to do about it. */
  readonly fix: string
}

/** Why each refusal happens, and what to do about it. */
// oxfmt-ignore
export const REFUSAL_TEXTS: Readonly<Record<RefusalName, Explained>> = {
  // Queues
  QUEUE_CAP_EXCEEDED: { cause: 'As many requests as may wait for their turn are waiting already.', fix: 'Send less at once. An operator raises `limits.queued`, or makes the work shorter.' },
  QUEUE_BYTE_CAP_EXCEEDED: { cause: 'What is being read, or waits for its turn, would take more memory than the server gives to it.', fix: 'Send smaller messages, or fewer at once. An operator raises `limits.unparsedBytes` or `limits.queuedBytes`.' },
  QUEUE_TENANT_CAP_EXCEEDED: { cause: 'One caller has as many requests waiting as one caller may; others are still served.', fix: 'Wait for answers before sending more. An operator raises `limits.queuedPerCaller`.' },
  BUFFER_OVERFLOW: { cause: 'Too many answers wait for clients that read slowly.', fix: 'Read answers as they come. An operator raises `limits.unsentBytes`.' },
  BACKPRESSURE_ACTIVE: { cause: 'The server answers as many requests as it can at once.', fix: 'Send again after `retryAfterMs`. An operator raises `limits.allInFlight`, or adds servers.' },

  // Authentication
  AUTH_FAILED: { cause: 'The credentials were not accepted.', fix: 'Check which authority the server trusts, and get credentials from it.' },
  AUTH_EXPIRED: { cause: 'The credentials were accepted once and are too old now.', fix: 'Give `connect` a `reauthenticate` function; it is called once, and the request is sent again.' },
  AUTH_INVALID_CREDENTIALS: { cause: 'The credentials are malformed, or were never valid.', fix: 'Compare the `authorization` header with what the authority issued.' },
  AUTHZ_FORBIDDEN: { cause: 'The caller is known and may not do this.', fix: 'Ask for the right, or call as somebody who has it; sending again changes nothing.' },
  AUTH_MISSING: { cause: 'The request has no credentials, and the server wants some.', fix: 'Give `connect` the header: `headers: { authorization: … }`.' },
  SESSION_INVALID: { cause: 'The session has ended, or belongs to somebody else.', fix: 'Open a new session; the client of this package does so once, and repeats the request.' },

  // Validation
  INVALID_PARAMS: { cause: 'The parameters do not have the shape that the method, the tool or the prompt wants.', fix: 'Read the message and `data.field`, and correct the value.' },
  INVALID_JSON_SCHEMA: { cause: 'The schema of a tool or a prompt cannot be served: it is malformed, too deep, refers elsewhere, or has a pattern that can be made slow.', fix: 'Correct the schema where the message says; it is refused when the tool is defined, never at a call.' },
  INVALID_URI: { cause: 'A URI is malformed, or longer than `limits.uriLength`.', fix: 'Use a URI from `resources/list`, or fill in a template.' },
  INVALID_CONTENT_TYPE: { cause: 'The body of an HTTP request is not `application/json`.', fix: 'Send `Content-Type: application/json`.' },
  INVALID_HEADER: { cause: 'A header contradicts the body, or there are too many or too long ones.', fix: 'Repeat in the header exactly what the body says; leave out what is not needed.' },
  INVALID_SESSION_ID: { cause: 'The `Mcp-Session-Id` header is missing, or names no session.', fix: 'Send `initialize` and repeat the id that it answers; the client of this package does so by itself.' },
  INVALID_PROTOCOL_VERSION: { cause: 'The version that was named is none that the server speaks here.', fix: 'Use one of `data.supported`, or the version that was agreed on.' },
  MISSING_REQUIRED_FIELD: { cause: 'A field that must be there is not.', fix: 'Add the field that `data.field` names.' },
  FIELD_TYPE_MISMATCH: { cause: 'A field has another type than its schema says.', fix: 'Send `data.expectedType` in the field that `data.field` names; `data.details` says what came.' },

  // Paths
  PATH_TRAVERSAL_DETECTED: { cause: 'A path leads out of the folder that is served.', fix: 'Name files below the folder; a request like this is taken for an attack.' },
  PATH_INVALID: { cause: 'A path has characters or a form that no file here can have.', fix: 'Use a path from a list.' },
  SYMLINK_TRAVERSAL_DETECTED: { cause: 'A link on the way leads out of the folder that is served.', fix: 'Put the file itself below the folder.' },
  URI_OUT_OF_BOUNDS: { cause: 'A URI names something outside what is served.', fix: 'Use a URI from `resources/list`.' },
  CANONICAL_PATH_VIOLATION: { cause: 'A path is written in another way than its one canonical form.', fix: 'Write it without `.`, `..`, doubled slashes and needless escapes.' },

  // Entities
  RESOURCE_NOT_FOUND: { cause: 'No resource and no template of this server fits the URI, or the caller may not see it.', fix: 'List the resources and templates first.' },
  RESOURCE_DUPLICATE: { cause: 'A resource of this URI is defined already.', fix: 'Remove the first, or choose another URI; it is refused when the resource is defined.' },
  TOOL_NOT_FOUND: { cause: 'There is no tool of this name, or the caller may not see it.', fix: 'List the tools first; the message names the nearest.' },
  TOOL_DUPLICATE: { cause: 'A tool of this name is defined already.', fix: 'Remove the first, or choose another name; it is refused when the tool is defined.' },
  PROMPT_NOT_FOUND: { cause: 'There is no prompt of this name, or the caller may not see it.', fix: 'List the prompts first; the message names the nearest.' },
  PROMPT_DUPLICATE: { cause: 'A prompt of this name is defined already.', fix: 'Remove the first, or choose another name; it is refused when the prompt is defined.' },
  ENTITY_DUPLICATE: { cause: 'Something of this name is there already.', fix: 'Remove the first, or choose another name.' },

  // Rates
  RATE_LIMIT_EXCEEDED: { cause: 'The caller sent more requests than its limit allows.', fix: 'Send fewer; wait for `retryAfterMs`.' },
  RATE_LIMIT_PER_SECOND: { cause: 'The caller sent more requests in one second than its limit allows.', fix: 'Spread requests over time.' },
  RATE_LIMIT_PER_MINUTE: { cause: 'The caller sent more requests in one minute than its limit allows.', fix: 'Spread requests over time.' },
  QUOTA_EXCEEDED: { cause: 'The caller used up what it may use in a longer time.', fix: 'Wait for the next period, or ask for more.' },
  CONCURRENT_LIMIT_EXCEEDED: { cause: 'As many requests of this caller are being answered at once as may be.', fix: 'Wait for answers before sending more. An operator raises `limits.inFlight` or `limits.streams`.' },

  // Protocol and transport
  PROTOCOL_ERROR: { cause: 'The message is not valid JSON-RPC, or not one that may come here.', fix: 'Read the message; it names the rule.' },
  TRANSPORT_ERROR: { cause: 'The connection could not be opened, or broke before the answer came.', fix: 'Check that the server runs; repeat what is safe to repeat.' },
  MESSAGE_TOO_LARGE: { cause: 'The message is larger than its transport takes; `data.maxSize` says how much that is.', fix: 'Send less at once, or raise the limit of the transport.' },
  TIMEOUT: { cause: 'Something did not come in time.', fix: 'Ask for less, send faster, or raise the timeout.' },
  UNSUPPORTED_ENCODING: { cause: 'The body of an HTTP request is compressed.', fix: 'Send it as it is.' },

  // State of the server
  SERVER_UNINITIALIZED: { cause: 'A request came before `initialize`.', fix: 'Send `initialize` first; the client of this package opens anew and repeats the request.' },
  SERVER_SHUTTING_DOWN: { cause: 'The server ends. What it has begun is finished; new requests are refused.', fix: 'Connect again after `retryAfterMs`; the client of this package does so, and leaves what runs to finish.' },
  SERVICE_UNAVAILABLE: { cause: 'The server cannot serve for now.', fix: 'Send again later.' },
  INTERNAL_ERROR: { cause: 'Something failed that nobody expected. What it was is in the log of the server, under the reference in the message.', fix: 'Look up the reference in the log. Nothing is repeated by itself, since the same would fail again.' },
  DEPENDENCY_UNAVAILABLE: { cause: 'Something that the server needs cannot be reached.', fix: 'Send again later, if that is safe.' },

  // Health
  CIRCUIT_BREAKER_OPEN: { cause: 'Something failed so often that it is not tried for a while.', fix: 'Send again later.' },
  HEALTH_CHECK_FAILED: { cause: 'The server found itself unwell.', fix: 'Send again later, or use another server.' },
  DEGRADED_SERVICE: { cause: 'The server does only what matters most for now.', fix: 'Send again later.' },
  RESOURCE_EXHAUSTED: { cause: 'The server holds as many sessions or connections as it may.', fix: 'End what is not used. An operator raises `limits.sessions` or `limits.connections`.' },

  // Experimental
  ELICITATION_FAILED: { cause: 'The user could not be asked.', fix: 'Do without the answer, or ask otherwise.' },
  ELICITATION_TIMEOUT: { cause: 'The user did not answer in time.', fix: 'Ask again when the user is there, or raise `limits.questionMs`.' },
  ELICITATION_CANCELLED: { cause: 'The user, or the client, broke off the question.', fix: 'Do without the answer.' },
  INVALID_ELICITATION_MODE: { cause: 'The client cannot ask in this way.', fix: 'Check `ctx.client.supports()` before asking.' },
  ELICITATION_SECURITY_ERROR: { cause: 'The question asked for something that must not be asked for in this way, such as a password in a form.', fix: 'Ask for secrets at a URL, never in a form.' },
  TASK_NOT_FOUND: { cause: 'No task has this id, or it belongs to somebody else.', fix: 'Use the id that the task was begun with.' },
  TASK_DEPENDENCY_FAILED: { cause: 'Something that the task needs has failed.', fix: 'See to that first, then begin the task again.' },
  TASK_CANCELLED: { cause: 'The task was cancelled.', fix: 'Begin it again if it is still wanted.' },
  TASK_TIMEOUT: { cause: 'The task did not end in time.', fix: 'Give it more time, or less to do.' },
  INVALID_TASK_STATE: { cause: 'The task is in a state in which this cannot be done.', fix: 'Ask for its state first.' },
}
