import { expect, test } from 'vitest'
import { REMOTE } from './client.ts'
import { ERRORS, rowOf, type ErrorKind } from './error.ts'

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
}

test('errors that are never sent have the codes that programs know', () => {
  const local = [...ERRORS].filter(([, { where }]) => where === 'local')
  expect(Object.fromEntries(local.map(([kind, { code }]) => [kind, code]))).toEqual(LOCAL)
})

test('an unknown kind has the row of an error that a server sent', () => {
  expect(rowOf('never heard of' as ErrorKind)).toBe(REMOTE)
})
