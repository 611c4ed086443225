import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { judge, readChecks } from './conformance-results.ts'
import { toServerScenarios } from './conformance-suite.ts'

test('a scenario passes when something of its own succeeded and nothing failed', () => {
  expect(judge([{ id: 'ping', status: 'SUCCESS' }])).toEqual({ passed: true, notes: [] })
  const mixed = judge([
    { id: 'ping', status: 'SUCCESS' },
    { id: 'id', status: 'FAILURE', errorMessage: 'got 2' },
  ])
  expect(mixed).toEqual({ passed: false, notes: ['id: got 2'] })
})

test('a scenario that crashed, or in which all was skipped, is a failure', () => {
  expect(judge(undefined).passed).toBe(false)
  expect(judge([]).passed).toBe(false)
  const skipped = judge([
    { id: 'session', status: 'SKIPPED' },
    { id: 'wire-schema-valid', status: 'SUCCESS' },
  ])
  expect(skipped).toEqual({ passed: false, notes: ['nothing of its own was checked'] })
})

test('a warning is noted and fails the scenario', () => {
  const verdict = judge([
    { id: 'ping', status: 'SUCCESS' },
    { id: 'retry', status: 'WARNING', description: 'should send retry' },
  ])
  expect(verdict).toEqual({ passed: false, notes: ['warning: retry: should send retry'] })
  expect(judge([{ id: 'retry', status: 'WARNING' }]).passed).toBe(false)
})

test('the server scenarios of a listing are the required ones and the unscored ones', () => {
  const listing = [
    'Server scenarios (test against a server):',
    '  - ping',
    '  - tools-list',
    '',
    'Client scenarios (test against a client):',
    '  - initialize',
    '',
    'Run and reported, but never scored:',
    '  pending (2):',
    '    - auth/dpop [client]',
    '    - json-schema-2020-12 [server]',
    '',
  ]
  expect(toServerScenarios(listing.join('\n'))).toEqual(['ping', 'tools-list', 'json-schema-2020-12'])
})

test('checks are read from the folder of the scenario, not of one whose name begins alike', () => {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const longer = join(folder, 'server-tools-call-error-2026-11-15T09-00-00-000Z')
  mkdirSync(longer)
  writeFileSync(join(longer, 'checks.json'), '[{ "id": "tools-call-error", "status": "SUCCESS" }]')
  mkdirSync(join(folder, 'server-ping-2026-11-15T09-00-00-000Z'))
  expect(readChecks(folder, 'tools-call-error')).toHaveLength(1)
  expect(readChecks(folder, 'tools-call')).toBeUndefined()
  expect(readChecks(folder, 'ping')).toBeUndefined()
})
