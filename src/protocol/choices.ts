export interface ChoiceRow {
  /** The possible values. The first is official and applies without a profile. */
  readonly values: readonly (string | boolean)[]
  /** The value in profile `erlmcp`. */
  readonly erlmcp: string | boolean
  readonly reader: string
  /** Describes the choice, for the reference pages. */
  readonly about: string
}

/**
 * Every choice that a profile may change. `by-revision` leaves it to the revision. A choice whose reader is in
 * profiles/erlmcp/ changes the form of messages, and applies at the revisions with a handshake; the others apply at every
 * revision. Programs without a profile do not load this table.
 */
// oxfmt-ignore
export const CHOICES = {
  batch:              { values: ['by-revision', 'always'], erlmcp: 'always', reader: 'wire/batch.ts', about: 'Whether a message may be an array of messages only at 2025-03-26, or always.' },
  argumentErrors:     { values: ['by-revision', 'result', 'error'], erlmcp: 'error', reader: 'server/tools.ts', about: 'Whether arguments that do not match a tool\'s schema produce a result for the model, or an error that names the field.' },
  versionMismatch:    { values: ['negotiate', 'reject'], erlmcp: 'reject', reader: 'server/lifecycle.ts', about: 'Whether the server answers `initialize` for an unsupported version with another version, or rejects it.' },
  earlyPing:          { values: ['answered', 'refused'], erlmcp: 'refused', reader: 'transport/io/connection.ts', about: 'Whether the server answers `ping` before `initialize`.' },
  toolFailures:       { values: ['result', 'error'], erlmcp: 'error', reader: 'server/tools.ts', about: 'Whether a tool that throws produces a result for the model, or an error. A failure that a tool returns is always a result.' },
  nullIdErrors:       { values: [false, true], erlmcp: true, reader: 'wire/reply.ts', about: 'Whether an error has `"id": null` when the id could not be read; officially it has no id.' },
  resourceRefs:       { values: ['uri', 'name'], erlmcp: 'name', reader: 'server/completion.ts', about: 'Whether the `ref/resource` of a completion may also refer to a template by its `name`.' },
  systemRole:         { values: ['refused', 'passed'], erlmcp: 'passed', reader: 'server/roles.ts', about: 'Whether prompts and sampling requests may contain messages with the role `system`.' },
  temperature:        { values: ['free', 'checked'], erlmcp: 'checked', reader: 'server/sampling.ts', about: 'Whether `ctx.sample` rejects a temperature outside 0 to 2.' },
  strictShapes:       { values: [false, true], erlmcp: false, reader: 'profiles/strict/shapes.ts', about: 'Whether tools without a description and calls without arguments are rejected.' },
  strictMime:         { values: [false, true], erlmcp: false, reader: 'profiles/strict/mime.ts', about: 'Whether resources may have only known MIME types.' },
  progressErrors:     { values: ['ignored', 'refused'], erlmcp: 'refused', reader: 'profiles/strict/progress.ts', about: 'Whether a progress token that is neither a string nor an integer is ignored, or causes the request to be rejected.' },
  receivedValues:     { values: ['hidden', 'shown'], erlmcp: 'shown', reader: 'server/argument-issue.ts', about: 'Whether an error about arguments repeats the wrong value in `data.receivedValue`: numbers, booleans, null and the beginning of strings, but never a field whose name suggests a secret.' },
  jsonrpcLoose:       { values: [false, true], erlmcp: false, reader: 'profiles/erlmcp/jsonrpc-loose.ts', about: 'Whether methods that no revision defines may take positional params and return values other than objects.' },
  extensions:         { values: ['declared', 'open'], erlmcp: 'open', reader: 'extensions/declared.ts', about: 'Whether a client must declare one of our extensions before using it.' },

  extensionNames:     { values: ['own', 'bare'], erlmcp: 'bare', reader: 'profiles/erlmcp/extension-names.ts', about: 'Whether extension methods are also available without the prefix `dev.pierhead/`.' },
  notificationNames:  { values: ['official', 'bare'], erlmcp: 'bare', reader: 'profiles/erlmcp/notification-names.ts', about: 'Whether notification names start with `notifications/`; both forms are understood.' },
  initializedFrom:    { values: ['client', 'both'], erlmcp: 'both', reader: 'profiles/erlmcp/initialized.ts', about: 'Which sides send `notifications/initialized`.' },
  errorNumbers:       { values: ['official', 'erlmcp', 'erlmcp-core'], erlmcp: 'erlmcp', reader: 'profiles/erlmcp/error-numbers.ts', about: 'Which numbers errors use. All are understood. `erlmcp-core` sends -32002 and -32003 instead of -32031 and -32041 for an unknown tool and an unknown prompt.' },
  refusalCodes:       { values: ['data', 'code'], erlmcp: 'code', reader: 'profiles/erlmcp/error-numbers.ts', about: 'Whether the number of a refusal appears only in `error.data.refusal`, or also as the code of errors that have no number of their own.' },
  httpStatusFromRefusal: { values: [false, true, 'all'], erlmcp: 'all', reader: 'profiles/erlmcp/http-status.ts', about: 'Whether errors in an ordinary reply use the HTTP status of their refusal; `true` reserves 401 and 404 for their official meaning, `all` does not.' },
  binaryContents:     { values: ['blob', 'both'], erlmcp: 'both', reader: 'profiles/erlmcp/binary-contents.ts', about: 'Whether binary resource contents are only in `blob`, or also in `data`.' },
  resourceBlocks:     { values: ['embedded', 'uri'], erlmcp: 'uri', reader: 'profiles/erlmcp/resource-blocks.ts', about: 'Whether the `resource` of a content block may be a bare URI, which then becomes a link.' },
  completionShape:    { values: ['official', 'listed'], erlmcp: 'listed', reader: 'profiles/erlmcp/completion-shape.ts', about: 'Whether a completion is `{ completion: { values: [text] } }` or `{ values: [{ value, description }] }`.' },
  annotations:        { values: ['typed', 'free'], erlmcp: 'free', reader: 'profiles/erlmcp/annotations.ts', about: 'Whether resource annotations that the protocol does not define are sent in `_meta`, or among the others.' },
  serverCapabilities: { values: ['official', 'extra'], erlmcp: 'extra', reader: 'profiles/erlmcp/server-capabilities.ts', about: 'Whether a server also declares `sampling`, `roots`, `completion` and `completions.supported`.' },
  clientCapabilities: { values: ['official', 'enabled'], erlmcp: 'enabled', reader: 'profiles/erlmcp/client-capabilities.ts', about: 'Whether a client also writes `enabled: true` and `experimental.features`.' },
  samplingFields:     { values: ['official', 'short'], erlmcp: 'short', reader: 'profiles/erlmcp/sampling-fields.ts', about: 'Whether sampling requests also have `system`, and their answers `end_turn` and a list of content.' },
  progressTokens:     { values: ['meta', 'direct'], erlmcp: 'direct', reader: 'profiles/erlmcp/progress-tokens.ts', about: 'Whether a progress token is read only from `_meta`, or also from the params.' },
  toolExecute:        { values: ['unknown', 'alias'], erlmcp: 'alias', reader: 'profiles/erlmcp/tool-execute.ts', about: 'Whether `tool/execute` is an alias for `tools/call`.' },
  tasksCreate:        { values: ['unknown', 'alias'], erlmcp: 'alias', reader: 'profiles/erlmcp/tasks-create.ts', about: 'Whether `tasks/create` is an alias for a `tools/call` that asks for a task, at 2025-11-25.' },
  requestsCancel:     { values: ['unknown', 'answered'], erlmcp: 'answered', reader: 'profiles/erlmcp/requests-cancel.ts', about: 'Whether the request `requests/cancel` cancels another request.' },
  shutdown:           { values: ['unknown', 'answered'], erlmcp: 'answered', reader: 'profiles/erlmcp/shutdown.ts', about: 'Whether the request `shutdown` makes the server reject all later requests on the connection.' },
  timeouts:           { values: ['long', 'short'], erlmcp: 'short', reader: 'profiles/timeouts.ts', about: 'How long a client waits by default: 60 s, or 5 s with 30 s for the handshake.' },
} as const
CHOICES satisfies Record<string, ChoiceRow>

type ChoiceName = keyof typeof CHOICES

/** The chosen value of each row in `CHOICES`. */
export type Choices = { readonly [Name in ChoiceName]: (typeof CHOICES)[Name]['values'][number] }
