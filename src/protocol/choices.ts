export interface ChoiceRow {
  /** What may be chosen. The first is official, and what is done without a profile. */
  readonly values: readonly (string | boolean)[]
  /** What profile `erlmcp` chooses. */
  readonly erlmcp: string | boolean
  readonly reader: string
  /** What is chosen between. */
  readonly about: string
}

/**
 * Every choice that a profile may make differently. `by-revision` leaves it to the revision. A choice whose reader is in
 * profiles/erlmcp/ changes the form of messages, at the revisions with a handshake; the others hold at every revision.
 * Without a profile nothing of this is loaded.
 */
// oxfmt-ignore
export const CHOICES = {
  batch:              { values: ['by-revision', 'always'], erlmcp: 'always', reader: 'wire/batch.ts', about: 'Whether one message may be an array of messages: only at 2025-03-26, or always.' },
  argumentErrors:     { values: ['by-revision', 'result', 'error'], erlmcp: 'error', reader: 'server/tools.ts', about: 'Whether arguments that break the schema of a tool are a result that the model reads, or an error that names the field.' },
  versionMismatch:    { values: ['negotiate', 'reject'], erlmcp: 'reject', reader: 'server/lifecycle.ts', about: 'Whether `initialize` with a version that is not served is answered with another, or refused.' },
  earlyPing:          { values: ['answered', 'refused'], erlmcp: 'refused', reader: 'transport/io/connection.ts', about: 'Whether `ping` is answered before `initialize`.' },
  toolFailures:       { values: ['result', 'error'], erlmcp: 'error', reader: 'server/tools.ts', about: 'Whether a tool that throws is a result that the model reads, or an error. A failure that it returns is always a result.' },
  nullIdErrors:       { values: [false, true], erlmcp: true, reader: 'wire/reply.ts', about: 'Whether an error says `"id": null` where the id could not be read; officially it says nothing.' },
  resourceRefs:       { values: ['uri', 'name'], erlmcp: 'name', reader: 'server/completion.ts', about: 'Whether the `ref/resource` of a completion may also name the template by its `name`.' },
  systemRole:         { values: ['refused', 'passed'], erlmcp: 'passed', reader: 'server/roles.ts', about: 'Whether prompts and questions to a model may hold messages with the role `system`.' },
  temperature:        { values: ['free', 'checked'], erlmcp: 'checked', reader: 'server/sampling.ts', about: 'Whether `ctx.sample` refuses a temperature outside 0 to 2.' },
  strictShapes:       { values: [false, true], erlmcp: false, reader: 'profiles/strict/shapes.ts', about: 'Whether a tool without a description, and a call without arguments, are refused.' },
  strictMime:         { values: [false, true], erlmcp: false, reader: 'profiles/strict/mime.ts', about: 'Whether resources may only have one of the known MIME types.' },
  progressErrors:     { values: ['ignored', 'refused'], erlmcp: 'refused', reader: 'profiles/strict/progress.ts', about: 'Whether a progress token that is neither a string nor an integer is ignored, or the request is refused.' },
  receivedValues:     { values: ['hidden', 'shown'], erlmcp: 'shown', reader: 'server/argument-issue.ts', about: 'Whether an error about arguments repeats the wrong value in `data.receivedValue`: numbers, booleans, null and the beginning of strings, but never a field that is named like a secret.' },
  jsonrpcLoose:       { values: [false, true], erlmcp: false, reader: 'profiles/erlmcp/jsonrpc-loose.ts', about: 'Whether methods that no revision knows may take params by position and give back values that are no objects.' },
  extensions:         { values: ['declared', 'open'], erlmcp: 'open', reader: 'extensions/declared.ts', about: 'Whether a client must declare an extension of ours before it uses it.' },

  extensionNames:     { values: ['own', 'bare'], erlmcp: 'bare', reader: 'profiles/erlmcp/extension-names.ts', about: 'Whether methods of extensions are also known without `dev.pierhead/` in front.' },
  notificationNames:  { values: ['official', 'bare'], erlmcp: 'bare', reader: 'profiles/erlmcp/notification-names.ts', about: 'Whether notifications are called `notifications/…`, or without that; both are understood.' },
  initializedFrom:    { values: ['client', 'both'], erlmcp: 'both', reader: 'profiles/erlmcp/initialized.ts', about: 'Who sends `notifications/initialized`.' },
  errorNumbers:       { values: ['official', 'erlmcp', 'erlmcp-core'], erlmcp: 'erlmcp', reader: 'profiles/erlmcp/error-numbers.ts', about: 'Whose numbers errors have. All are understood. `erlmcp-core` writes -32002 and -32003 instead of -32031 and -32041 for a tool and a prompt that do not exist.' },
  refusalCodes:       { values: ['data', 'code'], erlmcp: 'code', reader: 'profiles/erlmcp/error-numbers.ts', about: 'Whether the number of a refusal is only in `error.data.refusal`, or also the code of an error that has no number of its own.' },
  httpStatusFromRefusal: { values: [false, true, 'all'], erlmcp: 'all', reader: 'profiles/erlmcp/http-status.ts', about: 'Whether errors in an ordinary reply have the HTTP status of their refusal; `true` keeps 401 and 404 for their official meaning, `all` does not.' },
  binaryContents:     { values: ['blob', 'both'], erlmcp: 'both', reader: 'profiles/erlmcp/binary-contents.ts', about: 'Whether bytes of resources are in `blob`, or also in `data`.' },
  resourceBlocks:     { values: ['embedded', 'uri'], erlmcp: 'uri', reader: 'profiles/erlmcp/resource-blocks.ts', about: 'Whether the `resource` of a content block may be a bare URI, which then becomes a link.' },
  completionShape:    { values: ['official', 'listed'], erlmcp: 'listed', reader: 'profiles/erlmcp/completion-shape.ts', about: 'Whether a completion is `{ completion: { values: [text] } }` or `{ values: [{ value, description }] }`.' },
  annotations:        { values: ['typed', 'free'], erlmcp: 'free', reader: 'profiles/erlmcp/annotations.ts', about: 'Whether annotations of resources that the protocol does not know are in `_meta`, or among the others.' },
  serverCapabilities: { values: ['official', 'extra'], erlmcp: 'extra', reader: 'profiles/erlmcp/server-capabilities.ts', about: 'Whether a server also declares `sampling`, `roots`, `completion` and `completions.supported`.' },
  clientCapabilities: { values: ['official', 'enabled'], erlmcp: 'enabled', reader: 'profiles/erlmcp/client-capabilities.ts', about: 'Whether a client also writes `enabled: true` and `experimental.features`.' },
  samplingFields:     { values: ['official', 'short'], erlmcp: 'short', reader: 'profiles/erlmcp/sampling-fields.ts', about: 'Whether questions to a model also have `system`, and answers `end_turn` and a list of content.' },
  progressTokens:     { values: ['meta', 'direct'], erlmcp: 'direct', reader: 'profiles/erlmcp/progress-tokens.ts', about: 'Whether a progress token is read from `_meta` only, or also from the params themselves.' },
  toolExecute:        { values: ['unknown', 'alias'], erlmcp: 'alias', reader: 'profiles/erlmcp/tool-execute.ts', about: 'Whether `tool/execute` means `tools/call`.' },
  requestsCancel:     { values: ['unknown', 'answered'], erlmcp: 'answered', reader: 'profiles/erlmcp/requests-cancel.ts', about: 'Whether the request `requests/cancel` cancels another.' },
  shutdown:           { values: ['unknown', 'answered'], erlmcp: 'answered', reader: 'profiles/erlmcp/shutdown.ts', about: 'Whether the request `shutdown` ends a connection: what comes after it is refused.' },
  timeouts:           { values: ['long', 'short'], erlmcp: 'short', reader: 'profiles/timeouts.ts', about: 'How long a client waits unless told otherwise: 60 s of silence, or 5 s and 30 s for the handshake.' },
} as const
CHOICES satisfies Record<string, ChoiceRow>

type ChoiceName = keyof typeof CHOICES

/** What is chosen for each of `CHOICES`. */
export type Choices = { readonly [Name in ChoiceName]: (typeof CHOICES)[Name]['values'][number] }
