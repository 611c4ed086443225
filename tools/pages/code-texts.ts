import type { Explained } from './refusal-texts.ts'

export interface CodeText extends Explained {
  /** What is said instead unless the profile is chosen. */
  readonly instead: string
}

/** Why each code of profile `erlmcp` is sent, what to do about it, and what the default sends in its place. */
// oxfmt-ignore
export const CODE_TEXTS: ReadonlyMap<number, CodeText> = new Map([
  // Core
  [-32001, { cause: 'No resource fits the URI.', fix: 'List the resources and templates first.', instead: '`-32602`, and `-32002` before 2026-07-28.' }],
  [-32002, { cause: 'There is no tool of this name. The profile sends `-32031` by default and this number with `errorNumbers` set to `erlmcp-core`. Clients understand both.', fix: 'List the tools first.', instead: '`-32602`. Officially this number meant, before 2026-07-28, that a resource does not exist.' }],
  [-32003, { cause: 'There is no prompt of this name. The profile sends `-32041` by default and this number with `errorNumbers` set to `erlmcp-core`. Clients understand both.', fix: 'List the prompts first.', instead: '`-32602`.' }],
  [-32004, { cause: 'The method belongs to a capability that the other side did not declare.', fix: 'Use only what was declared.', instead: '`-32601`; for a capability of the client `-32021`.' }],
  [-32005, { cause: 'A request came before `initialize`, or `initialize` came twice.', fix: 'Send `initialize` once, and first.', instead: '`-32600`.' }],
  [-32006, { cause: 'The session has as many subscriptions as it may, which is 1,000.', fix: 'Unsubscribe from something first.', instead: '`-32602`.' }],
  [-32007, { cause: 'Something in the parameters breaks a rule.', fix: 'Read the message, and correct the value.', instead: '`-32602`.' }],
  [-32008, { cause: 'The connection could not be opened, or broke.', fix: 'Check that the server runs, and connect again.', instead: 'An error of the client itself, or the status of HTTP.' }],
  [-32009, { cause: 'Something did not come in time.', fix: 'Ask for less, or raise the timeout.', instead: 'An error of the client itself, or HTTP status 408.' }],
  [-32010, { cause: 'The caller has sent too much.', fix: 'Wait for answers before sending more.', instead: 'The code of the refusal, with HTTP status 429.' }],

  // Content
  [-32011, { cause: 'The description of a tool is longer than `limits.descriptionLength`, which is 10,000 characters.', fix: 'Shorten it; what is long belongs into a resource.', instead: 'The tool is refused where it is defined. When a handler defines it, its client gets `-32602`.' }],
  [-32012, { cause: 'The message is larger than its transport takes.', fix: 'Send less at once, or raise the limit of the transport.', instead: '`-32600`, with HTTP status 413.' }],
  [-32013, { cause: 'The content is of a type that is not taken.', fix: 'Send JSON; with `strictMime`, use a known media type.', instead: '`-32600`, with HTTP status 415.' }],

  // Resources
  [-32021, { cause: 'The handler of the resource threw `resource_denied`, because the caller may not read it.', fix: 'Ask whoever runs the server for access.', instead: 'The code of the refusal, 1014. What is hidden from a caller does not exist for that caller, which is another error. Officially this number means, from 2026-07-28, that a capability of the client is missing.' }],
  [-32022, { cause: 'The URI is malformed, or too long.', fix: 'Use a URI from a list.', instead: '`-32602`. Officially this number means, from 2026-07-28, that the version is not supported.' }],
  [-32023, { cause: 'A resource of this URI is defined already.', fix: 'Remove the first, or choose another URI.', instead: 'The resource is refused where it is defined. When a handler defines it, its client gets `-32602`.' }],

  // Tools
  [-32031, { cause: 'There is no tool of this name.', fix: 'List the tools first.', instead: '`-32602`.' }],
  [-32032, { cause: 'The handler of the tool threw, or answered with something that breaks its output schema.', fix: 'Look up the reference in the log of the server.', instead: 'A result with `isError`, which the model reads.' }],
  [-32033, { cause: 'The arguments break the schema of the tool.', fix: 'Correct the field that `data.field` names.', instead: 'A result with `isError`; before 2025-11-25 `-32602`.' }],
  [-32034, { cause: 'The tool did not finish in time.', fix: 'Ask for less, or raise its `timeout`.', instead: 'A result with `isError`, which the model reads.' }],

  // Prompts
  [-32041, { cause: 'There is no prompt of this name.', fix: 'List the prompts first.', instead: '`-32602`.' }],
  [-32042, { cause: 'The arguments break the schema of the prompt.', fix: 'Correct the field that `data.field` names.', instead: '`-32602`. Officially this number means, at 2025-11-25, that the user must visit a URL first.' }],

  // Authentication
  [-32051, { cause: 'The caller is not known, or may not do this.', fix: 'Get credentials.', instead: 'HTTP status 401 with a challenge, or 403.' }],
  [-32052, { cause: 'The credentials are too old.', fix: 'Give `connect` a `reauthenticate` function.', instead: 'HTTP status 401 with a challenge.' }],
  [-32053, { cause: 'The credentials are malformed, or were never valid.', fix: 'Compare them with what the authority issued.', instead: 'HTTP status 401 with a challenge.' }],

  // Protocol
  [-32061, { cause: 'The message breaks a rule of the protocol.', fix: 'Read the message; it names the rule.', instead: '`-32600`.' }],
  [-32062, { cause: 'The version that was named is none that the server speaks.', fix: 'Use one of `data.supported`.', instead: 'No error at a handshake: the server answers with a version that it speaks. Elsewhere `-32022` or HTTP status 400.' }],
  [-32063, { cause: 'The `capabilities` of `initialize` are not an object, so nothing can be agreed on.', fix: 'Send `capabilities` as an object, `{}` for none.', instead: '`-32602`.' }],

  // Pagination
  [-32071, { cause: 'The cursor is none of this list.', fix: 'Start again without a cursor.', instead: '`-32602`.' }],
  [-32072, { cause: 'The cursor is older than `limits.cursorMs`.', fix: 'Start again without a cursor.', instead: '`-32602`.' }],

  // Tasks
  [-32081, { cause: 'No task has this id.', fix: 'Use the id that the task was begun with.', instead: '`-32602`.' }],
  [-32082, { cause: 'The task failed.', fix: 'Read its result.', instead: 'The status of the task.' }],
  [-32083, { cause: 'The task is in a state in which this cannot be done.', fix: 'Ask for its state first.', instead: '`-32602`.' }],
  [-32084, { cause: 'The task did not end in time.', fix: 'Give it more time, or less to do.', instead: 'The status of the task.' }],

  // Progress
  [-32091, { cause: 'The progress token of the request is neither a string nor an integer.', fix: 'Send a string or an integer.', instead: 'Nothing: the token is ignored; `-32602` with `progressErrors` at `refused`.' }],
  [-32092, { cause: 'The handler threw `progress_failed`, because it could not report its progress.', fix: 'Try again, or ask without a progress token.', instead: '`-32603`.' }],

  // Completion
  [-32110, { cause: 'There is nothing of this name to complete.', fix: 'Name a prompt or a resource template and one of its arguments.', instead: '`-32602`.' }],
  [-32111, { cause: 'The arguments that are filled in already are not an object of strings.', fix: 'Correct `context.arguments`.', instead: '`-32602`.' }],
])
