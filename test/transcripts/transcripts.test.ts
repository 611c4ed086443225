import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { official } from '../../src/profiles.ts'
import { CHOICES, type ChoiceRow, type Choices } from '../../src/protocol/choices.ts'
import { createApp } from './app.ts'
import { CLIENT_SCRIPTS, runClient, type ClientSwitch } from './client-scripts.ts'
import {
  assertScript,
  exchangeHttp,
  isRecording,
  record,
  recordedOf,
  replay,
  type Entry,
  type Transcript,
} from './play.ts'
import { SCRIPTS } from './scripts.ts'

const RECORDING = isRecording(process.env)

const IDS: Readonly<Partial<Record<keyof Choices, string>>> = {
  batch: '[S2-9.4-16] [S2-1.5-1] [S2-1.5-2] [S2-1.5-3] [S2-1.5-4] [S2-1.5-5] [S2-1.5-6] [S2-12.5]',
  argumentErrors: '[S2-4.2-5]',
  versionMismatch: '[S2-2.5-2]',
  earlyPing: '[S2-2.1-2] [S2-2.1-3]',
  toolFailures: '[S2-4.3-7]',
  nullIdErrors: '[S2-1.6-8]',
  resourceRefs: '[S2-7.2-1]',
  systemRole: '[S2-5.3-2]',
  temperature: '[S2-6.2-2]',
  strictShapes: '[S2-4.3-1] [S4-10-2]',
  strictMime: '[S2-8.2-13]',
  jsonrpcLoose: '[S2-1.1-4] [S2-1.3-3] [S2-1.1-2]',
  notificationNames: '[S2-1.4-3] [S2-4.5-1]',
  initializedFrom: '[S2-1.4-4] [S2-2.1-6] [S2-2.4-1]',
  errorNumbers: '[S2-8.2-1] [S2-8.2-4] [S2-8.2-5] [S2-8.2-8] [S2-2.1-4]',
  refusalCodes: '[S2-0-3]',
  binaryContents: '[S2-3.3-2]',
  resourceBlocks: '[S2-5.3-3]',
  completionShape: '[S2-7.2-3]',
  annotations: '[S2-3.2-3]',
  serverCapabilities: '[S2-2.3-3] [S2-2.3-5]',
  clientCapabilities: '[S2-2.2-2] [S2-9.1-4] [S2-9.2-1]',
  samplingFields: '[S2-6.2-4] [S2-6.2-5]',
  progressTokens: '[S2-4.3-2]',
  toolExecute: '[S2-12.4]',
  tasksCreate: '[S2-9.4-10]',
  requestsCancel: '[S2-9.4-14]',
  timeouts: '[S2-13-S7] [S2-13-C10]',
}

describe.each(Object.entries<ChoiceRow>(CHOICES))('%s', (name, { values }) => {
  const file = new URL(`${name}.json`, import.meta.url)
  const transcript = (): Transcript =>
    existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Transcript) : {}

  beforeAll(async () => {
    if (!RECORDING) return
    const exchanges: Record<string, readonly Entry[]> = {}
    for (const value of values) exchanges[String(value)] = await play(name as keyof Choices, value)
    writeFileSync(file, `${JSON.stringify(exchanges, null, 2)}\n`)
  })

  test('has a transcript for each of its values, and no two are the same', () => {
    const recorded = transcript()
    expect(Object.keys(recorded)).toEqual(values.map(String))
    const texts = Object.values(recorded).map((entries) => JSON.stringify(entries))
    // Where the revision decides, one of the values says the same.
    expect(new Set(texts).size).toBe(values[0] === 'by-revision' && values.length > 2 ? 2 : texts.length)
  })

  test.each(values)(`%s speaks as it was recorded ${IDS[name as keyof Choices] ?? ''}`, async (value) => {
    const recorded = recordedOf(transcript(), String(value))
    expect(await play(name as keyof Choices, value, recorded)).toEqual(recorded)
  })
})

test('every transcript belongs to a switch', () => {
  expect([...Object.keys(SCRIPTS), ...Object.keys(CLIENT_SCRIPTS)].toSorted()).toEqual(
    Object.keys(CHOICES).toSorted(),
  )
  const files = readdirSync(new URL('.', import.meta.url)).filter((name) => name.endsWith('.json'))
  expect(files.toSorted()).toEqual(
    Object.keys(CHOICES)
      .map((name) => `${name}.json`)
      .toSorted(),
  )
})

test('a transcript that is missing, empty or without an answer is an error', () => {
  for (const transcript of [{}, { on: [] }, { on: [{ client: {} }] }])
    expect(() => recordedOf(transcript, 'on')).toThrow('no exchange is recorded for on')
  expect(recordedOf({ on: [{ server: {} }] }, 'on')).toEqual([{ server: {} }])
})

test('a transcript that lacks a message of its script, or has another, is an error', () => {
  const result = { roots: [] }
  const steps = [{ id: 1, method: 'a' }, '{', { answer: 'roots/list', result }]
  const question = { server: { id: 7, method: 'roots/list' } }
  const answer = { client: { jsonrpc: '2.0', id: 7, result } }
  const entries = [{ client: { id: 1, method: 'a' } }, question, { client: '{' }, answer]
  expect(() => assertScript(steps, entries)).not.toThrow()
  // Nobody answers what was not asked.
  expect(() => assertScript(steps, [entries[0] as Entry, entries[2] as Entry])).not.toThrow()
  for (const wrong of [
    entries.slice(0, 3),
    entries.slice(1),
    entries.toReversed(),
    [...entries, { client: 'more' }],
    [{ client: { id: 2, method: 'a' } }, ...entries.slice(1)],
  ])
    expect(() => assertScript(steps, wrong)).toThrow('the transcript and its script differ')
})

test('transcripts are recorded on request, and never in CI', () => {
  expect(isRecording({ CI: 'true' })).toBe(false)
  expect(isRecording({ RECORD: '1' })).toBe(true)
  expect(() => isRecording({ RECORD: '1', CI: 'true' })).toThrow('not recorded in CI')
})

/** Plays a switch at a value: by its script, or by what was recorded of the client before. */
function play(name: keyof Choices, value: unknown, recorded?: readonly Entry[]): Promise<readonly Entry[]> {
  const profile = official.with({ [name]: value })
  if (name in CLIENT_SCRIPTS) return runClient(name as ClientSwitch, profile)
  const steps = SCRIPTS[name as keyof typeof SCRIPTS]
  const app = createApp(profile)
  if (name === 'httpStatusFromRefusal') return exchangeHttp(app, steps)
  return recorded === undefined ? record(app, steps) : replay(app, steps, recorded)
}
