import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { leftOutText } from './conformance.ts'
import { judge, judgeRun } from './conformance-results.ts'
import { toScenarios } from './conformance-suite.ts'

test('a scenario passes if one of its own checks succeeded and none failed', () => {
  expect(judge([{ id: 'ping', status: 'SUCCESS' }])).toEqual({ passed: true, notes: [] })
  const mixed = judge([
    { id: 'ping', status: 'SUCCESS' },
    { id: 'id', status: 'FAILURE', errorMessage: 'got 2' },
  ])
  expect(mixed).toEqual({ passed: false, notes: ['id: got 2'] })
})

test('a scenario that crashed or skipped everything fails', () => {
  expect(judge(undefined).passed).toBe(false)
  expect(judge([]).passed).toBe(false)
  const skipped = judge([
    { id: 'session', status: 'SKIPPED' },
    { id: 'wire-schema-valid', status: 'SUCCESS' },
  ])
  expect(skipped).toEqual({ passed: false, notes: ['none of its own checks succeeded'] })
})

test('a warning is noted and fails the scenario', () => {
  const verdict = judge([
    { id: 'ping', status: 'SUCCESS' },
    { id: 'retry', status: 'WARNING', description: 'should send retry' },
  ])
  expect(verdict).toEqual({ passed: false, notes: ['warning: retry: should send retry'] })
  expect(judge([{ id: 'retry', status: 'WARNING' }]).passed).toBe(false)
})

test('the scenarios of a side in a listing are the required ones and the unscored ones', () => {
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
  expect(toScenarios(listing.join('\n'), 'server')).toEqual(['ping', 'tools-list', 'json-schema-2020-12'])
  expect(toScenarios(listing.join('\n'), 'client')).toEqual(['initialize', 'auth/dpop'])
})

test('checks are read from the folder of the scenario, not of one with the same prefix', () => {
  const folder = openFolder()
  writeRun(folder, 'server-tools-call-error', { 'checks.json': PASSED })
  writeRun(folder, 'server-ping', {})
  expect(judgeRun(folder, 'server', 'tools-call-error').passed).toBe(true)
  expect(judgeRun(folder, 'server', 'tools-call').passed).toBe(false)
  expect(judgeRun(folder, 'server', 'ping').passed).toBe(false)
})

test('checks that are left out count for nothing', () => {
  const folder = openFolder()
  const checks = [
    { id: 'discover', status: 'SUCCESS' },
    { id: 'own-tool', status: 'FAILURE' },
  ]
  writeRun(folder, 'server-server-stateless', { 'checks.json': JSON.stringify(checks) })
  expect(judgeRun(folder, 'server', 'server-stateless').passed).toBe(false)
  expect(judgeRun(folder, 'server', 'server-stateless', new Set(['own-tool'])).passed).toBe(true)
  expect(judgeRun(folder, 'server', 'server-stateless', new Set(['own-tool', 'discover'])).passed).toBe(false)
})

test('a client passes only if it also exits by itself without an error', () => {
  const folder = openFolder()
  writeRun(folder, 'initialize', { 'checks.json': PASSED, 'stdout.txt': 'ended with 0\n' })
  writeRun(folder, 'sse-retry', { 'checks.json': PASSED, 'stdout.txt': '' })
  const crashed = { 'checks.json': PASSED, 'stdout.txt': 'ended with 1\n', 'stderr.txt': 'no answer\n' }
  writeRun(folder, 'tools_call', crashed)
  expect(judgeRun(folder, 'client', 'initialize')).toEqual({ passed: true, notes: [] })
  expect(judgeRun(folder, 'client', 'sse-retry').passed).toBe(false)
  expect(judgeRun(folder, 'client', 'tools_call')).toEqual({
    passed: false,
    notes: ['the client failed: no answer'],
  })
})

const PASSED = '[{ "id": "any", "status": "SUCCESS" }]'

function openFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function writeRun(folder: string, name: string, files: Readonly<Record<string, string>>): void {
  const own = join(folder, `${name}-2026-11-15T09-00-00-000Z`)
  mkdirSync(own)
  for (const [file, text] of Object.entries(files)) writeFileSync(join(own, file), text)
}

test('the summary counts the omitted scenarios by reason', () => {
  const leftOut = ['client, all: sep-2640-client-no-prefetch', 'server, all: sep-2640-skills-manifest']
  expect(leftOutText([...leftOut, 'server, all: tasks-status-notifications'])).toBe(
    '3 scenarios of the suite are left out: 2 about skills, 1 skipped by the suite',
  )
})
