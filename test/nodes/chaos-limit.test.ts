import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { chaos } from '../../tools/chaos.ts'

test('a chaos test whose clients would go on for ever ends when its time is over', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pierhead-chaos-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const extent = { tasks: 1_000_000, sessions: 2, kills: 0, minutes: 0, limitMinutes: 0.05, seed: 5 }
  const { faults, crashes } = await chaos({ ...extent, taskStore: 'postgres' }, folder)
  expect(crashes).toEqual(['the run took longer than 0.05 minutes'])
  expect(faults.map(({ fault }) => fault)).toContain('too few tasks')
}, 300_000)
