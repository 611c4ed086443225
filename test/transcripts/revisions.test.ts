import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import type { App } from '../../src/index.ts'
import { official } from '../../src/profiles.ts'
import { REVISIONS, type Revision } from '../../src/protocol/revisions.ts'
import { SWITCHES } from '../../src/protocol/switches.ts'
import { createApp } from './app.ts'
import { isRecording, record, recordedOf, replay, type Entry, type Transcript } from './play.ts'
import { exchange, HTTP_SCRIPTS } from './revision-http.ts'
import { REVISION_SCRIPTS } from './revision-scripts.ts'

const RECORDING = isRecording(process.env)

type Name = keyof typeof SWITCHES

describe.each(Object.keys(SWITCHES) as Name[])('%s', (name) => {
  const file = new URL(`revisions/${name}.json`, import.meta.url)
  const transcript = (): Transcript =>
    existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Transcript) : {}
  const revisions = newestOf(name)

  beforeAll(async () => {
    if (!RECORDING) return
    const exchanges: Record<string, readonly Entry[]> = {}
    for (const revision of revisions) exchanges[revision] = await play(name, revision)
    writeFileSync(file, `${JSON.stringify(exchanges, null, 2)}\n`)
  })

  test('has a transcript for each of its values, and no two are the same', () => {
    const recorded = transcript()
    expect(Object.keys(recorded)).toEqual(revisions)
    expect(new Set(Object.values(recorded).map((entries) => JSON.stringify(entries))).size).toBe(
      revisions.length,
    )
  })

  test.each(revisions)('%s is spoken as it was recorded', async (revision) => {
    const recorded = recordedOf(transcript(), revision)
    expect(await play(name, revision, recorded)).toEqual(recorded)
  })
})

/** The newest revision of each value. */
function newestOf(name: Name): readonly Revision[] {
  const at: readonly unknown[] = SWITCHES[name].at
  return REVISIONS.filter((_, index) => at.lastIndexOf(at[index]) === index)
}

function play(name: Name, revision: Revision, recorded?: readonly Entry[]): Promise<readonly Entry[]> {
  const app: App = createApp(official)
  if (name === 'tasks') app.tool('later', { task: 'required' }, () => 'done')
  if (name in HTTP_SCRIPTS) return exchange(app, HTTP_SCRIPTS[name as keyof typeof HTTP_SCRIPTS](revision))
  const steps = REVISION_SCRIPTS[name as keyof typeof REVISION_SCRIPTS](revision)
  return recorded === undefined ? record(app, steps) : replay(app, steps, recorded)
}
