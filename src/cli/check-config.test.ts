import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { checkConfig } from './check-config.ts'
import { Findings } from './finding.ts'

/** Checks a configuration with these programs. Counts how often one is looked for on the PATH. */
function check(entries: readonly unknown[]): { findings: Findings; looks: number } {
  const folder = mkdtempSync(join(tmpdir(), 'pierhead-check-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, '.mcp.json')
  const servers = Object.fromEntries(entries.map((entry, at) => [`s${at}`, entry]))
  writeFileSync(file, JSON.stringify({ mcpServers: servers }))
  let looks = 0
  const env = {
    get PATH() {
      looks++
      return folder
    },
  }
  const findings = new Findings()
  checkConfig(file, { cwd: folder, env }, findings)
  return { findings, looks }
}

test('a program that many servers of a configuration have is looked for once', () => {
  const { findings, looks } = check(Array.from({ length: 1000 }, () => ({ command: 'nowhere', args: ['a'] })))
  expect(findings.list).toHaveLength(1000)
  expect(new Set(findings.list.map(({ level }) => level))).toEqual(new Set(['problem']))
  // 1,000 before.
  expect(looks).toBe(1)
})

test('the findings of one program are not those of another', () => {
  const entries = [
    { command: 'no where' },
    { command: 'no where', args: ['a'] },
    { command: 'else', cwd: '/nonesuch' },
    { command: 'else' },
  ]
  const texts = check(entries).findings.list.map(({ text }) => text.replace(/^.*?: /, ''))
  expect(texts).toEqual([
    'there is no program called "no …"; it looks like a whole command line',
    'there is no program no where on the PATH',
    'there is no folder /nonesuch, in which the program should run',
    'there is no program else on the PATH',
  ])
})
