import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Knowledge } from './knowledge.ts'
import { sitesOf } from './mutants.ts'
import { Ranking } from './ranking.ts'

/** Test files that import a source, and the words that they share with it. */
const FILES: Readonly<Record<string, string>> = {
  'src/doors.ts': 'export const width = 3\n',
  'src/doors.test.ts': "import { width } from './doors.ts'\n",
  'src/house.ts': "export { width } from './doors.ts'\n",
  'src/house.test.ts': "import { width } from './house.ts'\n",
  'src/measures.test.ts': "import './doors.ts'\n",
  'test/doors.test.ts': "import { width } from '../src/doors.ts'\n// the width of doors\n",
  'test/garden.test.ts': "import '../test/flowers.ts'\n",
  'test/flowers.ts': 'export {}\n',
}

test('the test of the same name comes first, then those beside the source that import it, then the others', () => {
  const root = mkdtempSync(join(tmpdir(), 'pierhead-ranking-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  for (const [file, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), text)
  }
  const file = 'src/doors.ts'
  const source = FILES[file]!
  const ranking = new Ranking(root, new Map([[file, source]]), new Knowledge(join(root, 'none.json')))
  const mutant = sitesOf(file, source)[0]![0]!
  const near = ['src/doors.test.ts', 'src/measures.test.ts']
  expect(ranking.choose(mutant, new Set())).toEqual([...near, 'test/doors.test.ts', 'src/house.test.ts'])
  expect(ranking.choose(mutant, new Set(near))).toEqual(['test/doors.test.ts', 'src/house.test.ts'])
})
