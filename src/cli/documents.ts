/** What each command prints as JSON: in a pipe, or with --json. Paths are whole, and yes or no is in members with is… and has…. */
export const DOCUMENTS: Readonly<Record<string, string>> = {
  create: '{ name, template, folder, next }',
  add: '{ kind, name, files, isChanged }',
  run: 'none; stdout is for the server',
  dev: 'lines of { event, … }; with --stdio on stderr, and only with --json',
  build: '{ file, bytes, external }',
  list: '{ tools, resources, templates, prompts }, without what the server does not offer',
  call: 'the result of the tool, such as { content, structuredContent, isError }; with --save also { saved }, the files',
  read: 'the result, { contents }; with --save also { saved }, the files',
  prompt: 'the result, { description, messages }; with --save also { saved }, the files',
  complete: '{ values, total, hasMore }',
  watch:
    'lines of { kind, uri }, { kind: "log", level, logger, data, isClipped }, { kind: "omitted", omitted } and { kind: "reconnected" }',
  info: '{ target, revision, server, capabilities, instructions }',
  ping: '{ target, connectMs, times }',
  'tasks list': '{ tasks: [{ id, status, tool, owner, message, createdAt, updatedAt }] }',
  'tasks show': '{ task: { id, status, …, attempt, arguments, outcome } }',
  'tasks wait': 'the result of the tool, as call prints it; with --save also { saved }, the files',
  'tasks cancel': '{ task: { id, status, … } }',
  'tasks retry': '{ tasks: [{ id, retryOf, status, … }], failed: [{ id, message, hint }] }',
  test: '{ passed, failed, fixtures, generated, skipped, unmade: [{ tool, count, problem }], cases: [{ tool, name, from, problem }] }; with --update { updated, fixtures, files, left }',
  validate:
    '{ target, at, places: [{ transport, revisions, left, problem, refused }], score, isComplete, problem, counts, outcomes: [{ id, level, role, revision, transport, rule, how, fix, is, isIgnored, found, entries, ms }] }',
  conformance:
    '{ target, at, places: [{ transport, revisions, left, problem, refused }], score, isComplete, problem, counts, outcomes: [{ id, level, role, revision, transport, rule, how, fix, is, isIgnored, found, entries, ms }] }',
  doctor:
    '{ isOk, target, findings: [{ level, text, fix }] }; if the time of --total was over before, also { error }',
  install:
    '{ client, file, name, isChanged, entry, backup }; with --print { client, file, config }; with --undo { client, file, isRestored, name }',
  'auth login':
    '{ target, isNew, logins: [{ url, issuer, resource, clientId, scopes, expiresAt, isRenewable, isLoggedIn }] }',
  'auth status': '{ file, hasToken, logins }',
  'auth logout': '{ loggedOut: [{ url, issuer, isRevoked, reason }] }',
  'keys create': '{ file, isNew, publicKey, fingerprint }',
  'keys show': '{ file, publicKey, fingerprint }, or { file, keys: [{ key, sub, scopes }] } of a list',
  'keys allow': '{ file, key, sub, scopes }',
  completion: 'none; stdout is for the script',
}
