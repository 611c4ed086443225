import type { Explained } from './refusal-texts.ts'

export interface CodeText extends Explained {
  /** What is sent instead without the profile. */
  readonly instead: string
}

/** The cause of each code of profile `erlmcp`, the fix, and what is sent without the profile. */
// oxfmt-ignore
export const CODE_TEXTS: ReadonlyMap<number, CodeText> = new Map([
  // Core
  [-32001, { cause: 'No resource matches the URI.', fix: 'List the resources and templates first.', instead: '`-32602`, and `-32002` before 2026-07-28.' }],
  [-32002, { cause: 'No tool has this name. The profile sends `-32031` by default and this number with `errorNumbers` set to `erlmcp-core`. Clients understand both.', fix: 'List the tools first.', instead: '`-32602`. Before 2026-07-28, this number officially meant that a resource does not exist.' }],
  [-32003, { cause: 'No prompt has this name. The profile sends `-32041` by default and this number with `errorNumbers` set to `erlmcp-core`. Clients understand both.', fix: 'List the prompts first.', instead: '`-32602`.' }],
  [-32004, { cause: 'The method belongs to a capability that the other side did not declare.', fix: 'Use only declared capabilities.', instead: '`-32601`; for a client capability `-32021`.' }],
  [-32005, { cause: 'A request arrived before `initialize`, or `initialize` was sent twice.', fix: 'Send `initialize` once, before anything else.', instead: '`-32600`.' }],
  [-32006, { cause: 'The session has reached its limit of 1,000 subscriptions.', fix: 'Unsubscribe from something first.', instead: '`-32602`.' }],
  [-32007, { cause: 'A parameter is invalid.', fix: 'Read the message and correct the value.', instead: '`-32602`.' }],
  [-32008, { cause: 'The connection could not be opened, or broke.', fix: 'Check that the server is running, and connect again.', instead: 'An error thrown by the client, or an HTTP status.' }],
  [-32009, { cause: 'Something did not happen in time.', fix: 'Ask for less, or raise the timeout.', instead: 'An error thrown by the client, or HTTP status 408.' }],
  [-32010, { cause: 'The caller sent too many requests.', fix: 'Wait for answers before sending more.', instead: 'The code of the refusal, with HTTP status 429.' }],

  // Content
  [-32011, { cause: 'The description of a tool is longer than `limits.descriptionLength`, which is 10,000 characters.', fix: 'Shorten it; put long texts into a resource.', instead: 'The tool is rejected when it is defined. If a handler defines it, the caller gets `-32602`.' }],
  [-32012, { cause: 'The message is larger than the transport allows.', fix: 'Send less at once, or raise the limit of the transport.', instead: '`-32600`, with HTTP status 413.' }],
  [-32013, { cause: 'The content type is not accepted.', fix: 'Send JSON; with `strictMime`, use a known media type.', instead: '`-32600`, with HTTP status 415.' }],

  // Resources
  [-32021, { cause: 'The handler of the resource threw `resource_denied` because the caller may not read it, or the caller lacks a scope of the tool, resource or prompt.', fix: 'Ask the operator of the server for access; `data.scopes` names missing scopes.', instead: 'The code of the refusal, 1014. A resource that is hidden from a caller does not exist for that caller, which is a different error. From 2026-07-28, this number officially means that a client capability is missing.' }],
  [-32022, { cause: 'The URI is malformed or too long.', fix: 'Use a URI from a list.', instead: '`-32602`. From 2026-07-28, this number officially means that the version is not supported.' }],
  [-32023, { cause: 'A resource with this URI already exists.', fix: 'Remove the existing one or choose another URI.', instead: 'The resource is rejected when it is defined. If a handler defines it, the caller gets `-32602`.' }],

  // Tools
  [-32031, { cause: 'No tool has this name.', fix: 'List the tools first.', instead: '`-32602`.' }],
  [-32032, { cause: 'The handler of the tool threw, or returned a value that does not match the output schema.', fix: 'Look up the reference in the log of the server.', instead: 'A result with `isError` for the model.' }],
  [-32033, { cause: 'The arguments do not match the schema of the tool.', fix: 'Correct the field named in `data.field`.', instead: 'A result with `isError`; before 2025-11-25 `-32602`.' }],
  [-32034, { cause: 'The tool did not finish in time.', fix: 'Ask for less, or raise its `timeout`.', instead: 'A result with `isError` for the model.' }],

  // Prompts
  [-32041, { cause: 'No prompt has this name.', fix: 'List the prompts first.', instead: '`-32602`.' }],
  [-32042, { cause: 'The arguments do not match the schema of the prompt.', fix: 'Correct the field named in `data.field`.', instead: '`-32602`. At 2025-11-25, this number officially means that the user must visit a URL first.' }],

  // Authentication
  [-32051, { cause: 'The caller is not authenticated, or not allowed to do this.', fix: 'Get credentials.', instead: 'HTTP status 401 with a challenge, or 403.' }],
  [-32052, { cause: 'The credentials have expired.', fix: 'Give `connect` the option `auth`, such as `browser()` or `token()` of `pierhead/auth/client`.', instead: 'HTTP status 401 with a challenge.' }],
  [-32053, { cause: 'The credentials are malformed or were never valid.', fix: 'Compare them with what the authority issued.', instead: 'HTTP status 401 with a challenge.' }],

  // Protocol
  [-32061, { cause: 'The message violates the protocol.', fix: 'Read the message; it names the rule.', instead: '`-32600`.' }],
  [-32062, { cause: 'The server does not support the requested version.', fix: 'Use one of `data.supported`.', instead: 'No error in a handshake: the server answers with a version that it supports. Elsewhere `-32022` or HTTP status 400.' }],
  [-32063, { cause: 'The `capabilities` of `initialize` are not an object, so nothing can be negotiated.', fix: 'Send `capabilities` as an object; `{}` means none.', instead: '`-32602`.' }],

  // Pagination
  [-32071, { cause: 'The cursor does not belong to this list.', fix: 'Start again without a cursor.', instead: '`-32602`.' }],
  [-32072, { cause: 'The cursor is older than `limits.cursorMs`.', fix: 'Start again without a cursor.', instead: '`-32602`.' }],

  // Tasks
  [-32081, { cause: 'No task has this id.', fix: 'Use the id returned when the task was created.', instead: '`-32602`.' }],
  [-32082, { cause: 'The task failed.', fix: 'Read its result.', instead: 'The status of the task.' }],
  [-32083, { cause: 'The task is in a state that does not allow this.', fix: 'Check its state first.', instead: '`-32602`.' }],
  [-32084, { cause: 'The task did not finish in time.', fix: 'Give it more time or less work.', instead: 'The status of the task.' }],

  // Progress
  [-32091, { cause: 'The progress token of the request is neither a string nor an integer.', fix: 'Send a string or an integer.', instead: 'Nothing: the token is ignored; `-32602` with `progressErrors` set to `refused`.' }],
  [-32092, { cause: 'The handler threw `progress_failed` because it could not report its progress.', fix: 'Try again, or send the request without a progress token.', instead: '`-32603`.' }],

  // Completion
  [-32110, { cause: 'Nothing with this name can be completed.', fix: 'Name a prompt or a resource template and one of its arguments.', instead: '`-32602`.' }],
  [-32111, { cause: 'The arguments that are already filled in are not an object of strings.', fix: 'Correct `context.arguments`.', instead: '`-32602`.' }],
])
