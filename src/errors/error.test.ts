import { expect, test } from 'vitest'
import { REMOTE } from './client.ts'
import { allErrors } from './all.ts'
import { knowErrors, rowOf, type ErrorKind } from './error.ts'
import * as vault from './vault.ts'

knowErrors(Object.values(vault))

/** Codes that programs compare `error.code` with. No page lists the codes of errors that are never sent. */
const LOCAL: Readonly<Record<string, number>> = {
  cancelled: -32603,
  connection_closed: -32603,
  timeout: -32001,
  connect_failed: -32000,
  session_lost: -32001,
  stream_lost: -32000,
  http_failed: -32000,
  bad_answer: -32600,
  answer_too_large: -32600,
  no_revision: -32022,
  remote: -32603,
  closed: -32000,
  bad_option: -32603,
  bad_definition: -32603,
  input_required: -32603,
  keys_failed: -32000,
  vault_unsafe: -32000,
  vault_failed: -32000,
  vault_locked: -32000,
  keyring_unavailable: -32000,
  login_failed: -32000,
  login_needed: -32000,
  task_expired: -32603,
}

/** The same for errors that the model reads, and that handlers may catch. */
const RESULTS: Readonly<Record<string, number>> = {
  tool_failed: -32603,
  tool_input: -32602,
  tool_output: -32603,
  tool_timeout: -32603,
  cannot_ask: -32603,
  ask_invalid: -32603,
  ask_refused: -32603,
}

test.each([
  ['are never sent', 'local', LOCAL],
  ['become results', 'result', RESULTS],
])('errors that %s have the codes that programs know', (_, place, codes) => {
  const rows = [...allErrors()].filter(([, { where }]) => where === place)
  expect(Object.fromEntries(rows.map(([kind, { code }]) => [kind, code]))).toEqual(codes)
})

test('an unknown kind has the row of an error that a server sent', () => {
  expect(rowOf('never heard of' as ErrorKind)).toBe(REMOTE)
})
