import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { mutate, stateOf, type Settings } from './mutate.ts'

const FILES: Readonly<Record<string, string>> = {
  'package.json': '{ "type": "module" }',
  '.gitignore': 'node_modules\n.cache\n',
  'src/door.ts': 'export const isOpen = (): boolean => !false\nexport const spare: [number] = [7]\n',
  'tsconfig.build.json': '{ "compilerOptions": { "strict": true }, "include": ["src/door.ts"] }',
  'src/door.test.ts': `import { expect, test } from 'vitest'
import { isOpen } from './door.ts'
test('the door is open', () => expect(isOpen()).toBe(true))
`,
  'src/lamp.ts': 'export const lamps = 3\n',
  'test/scenarios/door.test.ts': `import { expect, test } from 'vitest'
import { spare } from '../../src/door.ts'
test('there are spare doors · memory 2025-11-25', () => expect(spare).toBeDefined())
test('not in memory · http 2025-11-25', () => expect(spare).toBeUndefined())
`,
}

/** A repository with a source that the tests check only in part. */
function plant(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'pierhead-mutate-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), text)
  }
  symlinkSync(resolve('node_modules'), join(root, 'node_modules'), 'junction')
  spawnSync('git', ['init', '-q'], { cwd: root })
  return root
}

function settingsFor(root: string, progress: string[] = []): Settings {
  const row = { file: 'src/door.ts', line: 'export const spare: [number] = [7]', original: '7' }
  return {
    root,
    seed: 1,
    count: 10,
    jobs: 2,
    equivalents: [{ ...row, mutated: '8', reason: 'nobody counts the spare doors' }],
    progress: (line) => void progress.push(line),
  }
}

test('mutants that no test detects survive, and the tree is left unchanged', async () => {
  const root = plant(FILES)
  const progress: string[] = []
  const verdicts = await mutate(settingsFor(root, progress))
  const states = verdicts.map(
    (verdict) => `${verdict.mutant.line} ${verdict.mutant.kind}: ${stateOf(verdict)}`,
  )
  expect(states.toSorted()).toEqual([
    '1 drop operator: killed',
    '1 flip: killed',
    '1 other number: survived',
    '1 return nothing: killed',
    '2 drop element: refused',
    '2 other number: equivalent',
  ])
  expect(verdicts.find(({ killed }) => killed)?.by).toBe('src/door.test.ts › the door is open')
  expect(progress).toHaveLength(7)
  for (const [file, text] of Object.entries(FILES)) expect(readFileSync(join(root, file), 'utf8')).toBe(text)
}, 600_000)

test('a test file that fails without a mutant kills none and is reported', async () => {
  const root = plant({
    ...FILES,
    'src/door.test.ts': `import { expect, test } from 'vitest'
import { isOpen } from './door.ts'
test('the door is shut', () => expect(isOpen()).toBe(false))
`,
  })
  const progress: string[] = []
  const verdicts = await mutate({ ...settingsFor(root, progress), count: 1, equivalents: [] })
  expect(verdicts.map(({ killed }) => killed)).toEqual([false])
  expect(progress.at(-1)).toBe('ignored, since it fails without a mutant: src/door.test.ts')
}, 600_000)

test('a failure in a test file that does not run the mutant does not count', async () => {
  const root = plant({
    ...FILES,
    'src/door.ts': 'export const isOpen = (): boolean => false\nexport const name = Symbol()\n',
    'src/door.test.ts': `import { existsSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { name } from './door.ts'
test('the name is known, but not at first', () => {
  const wrong = existsSync('wrong')
  if (!wrong) writeFileSync('wrong', String(name))
  expect(wrong).toBe(true)
})
`,
    'test/scenarios/door.test.ts': FILES['test/scenarios/door.test.ts']!.replaceAll('spare', 'name'),
  })
  const [verdict] = await mutate({ ...settingsFor(root), count: 1, only: 'src/door.ts' })
  expect(verdict).toMatchObject({ killed: false, mutant: { line: 1 } })
}, 600_000)

test('nothing is measured when the scenarios fail without a mutant', async () => {
  const root = plant({
    ...FILES,
    'test/scenarios/door.test.ts': `import { expect, test } from 'vitest'
test('never · memory 2025-11-25', () => expect(1).toBe(2))
`,
  })
  await expect(mutate({ ...settingsFor(root), count: 1 })).rejects.toThrow(
    'without a mutant, test/scenarios/door.test.ts failed: never · memory 2025-11-25',
  )
}, 600_000)

test('related tests beyond the nearest ones run too, after the scenarios', async () => {
  const idle = `import { expect, test } from 'vitest'
import { spare } from './door.ts'
test('there are doors', () => expect(spare).toBeDefined())
`
  const near = Object.fromEntries(
    Array.from({ length: 14 }, (_, index) => [`src/near-${index}.test.ts`, idle]),
  )
  const far = FILES['src/door.test.ts']!.replace('./door.ts', '../src/door.ts')
  const door = 'export const isOpen = (): boolean => true\nexport const spare = isOpen\n'
  const root = plant({
    ...FILES,
    ...near,
    'src/door.ts': door,
    'src/door.test.ts': idle,
    'test/far.test.ts': far,
  })
  const verdicts = await mutate({ ...settingsFor(root), count: 1, only: 'src/door.ts', equivalents: [] })
  expect(verdicts.map(({ by }) => by)).toEqual(['test/far.test.ts › the door is open'])
}, 600_000)
