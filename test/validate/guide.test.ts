import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { COMMANDS } from '../../src/cli/commands.ts'
import { parseLine } from '../../src/cli/program.ts'
import { GIST_RULES } from '../../src/validate/server-rules/gist.ts'
import { SERVER_RULES } from '../../src/validate/server-rules.ts'

const GUIDE = readFileSync(new URL('../../docs/guides/validate.md', import.meta.url), 'utf8')

interface Workflow {
  readonly on: readonly string[]
  readonly jobs: Readonly<
    Record<
      string,
      {
        readonly 'runs-on': string
        readonly steps: readonly { readonly run?: string; readonly uses?: string }[]
      }
    >
  >
}

/** The words of a command line, without a comment at its end. */
function wordsOf(line: string): readonly string[] {
  return line
    .replace(/\s+#.*$/, '')
    .split(' ')
    .slice(2)
}

test('the workflow in the guide is a workflow, and its command line is one of ours', () => {
  const text = /```yaml\n([\s\S]*?)```/.exec(GUIDE)?.[1] ?? ''
  const { on, jobs } = parse(text) as Workflow
  expect(on).toEqual(['push', 'pull_request'])
  const steps = Object.values(jobs).flatMap((job) => job.steps)
  expect(steps.every(({ run, uses }) => (run === undefined) !== (uses === undefined))).toBe(true)
  const [line] = steps.flatMap(({ run }) => (run?.startsWith('npx pierhead') ? [run] : []))
  expect(parseLine(wordsOf(line ?? ''), COMMANDS)).toMatchObject({
    command: { name: 'validate' },
    words: [],
    rest: ['node', 'dist/server.js', '--stdio'],
  })
})

test('every command line in the guide is one of ours', () => {
  const lines = [...GUIDE.matchAll(/^npx pierhead .*$/gm)].map(([line]) => line)
  expect(lines).toHaveLength(9)
  for (const line of lines)
    expect(parseLine(wordsOf(line), COMMANDS)).toMatchObject({
      command: { name: line.split(' ')[2] },
    })
})

test('the guide names exactly our own checks that fail a build', () => {
  const sentence = /^(`V001`.*) are failures/m.exec(GUIDE)?.[1] ?? ''
  const named = [...sentence.matchAll(/`V(\d+)`(?:–`V(\d+)`)?/g)].flatMap(([, from, to = from]) =>
    Array.from({ length: Number(to) - Number(from) + 1 }, (_, nth) => Number(from) + nth),
  )
  const failing = [...SERVER_RULES, ...GIST_RULES].filter(
    ({ id, level }) => id.startsWith('V') && level === 'must',
  )
  expect(named.toSorted((a, b) => a - b)).toEqual(
    [...new Set(failing.map(({ id }) => Number(id.slice(1))))].toSorted((a, b) => a - b),
  )
})
