import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { TRANSPORTS as TRIED } from '../../test/harness/line.ts'
import { pages } from '../pages.ts'
import { TRANSPORTS } from './transports.ts'

test('the table of transports has those over which every scenario runs, and no other [S2-10.1-1] [S2-15-5] [S2-0-4] [S2-13-S9] [S2-13-C9]', () => {
  const shown = Object.values(TRANSPORTS).flatMap(({ scenarios }) => scenarios)
  expect(shown.toSorted()).toEqual(TRIED.toSorted())
  for (const name of Object.keys(TRANSPORTS)) expect(pages().get('transports.md')).toContain(`| ${name} |`)
})

test('each transport has a folder of its own, and so has what all of them stand on [S2-14-1] [S2-14-2] [S2-14-3]', () => {
  const folders = ['stdio', 'http', 'sse', 'ws', 'tcp', 'memory'].map((name) => `transport/${name}`)
  const parts = ['resources', 'tools', 'prompts', 'sampling', 'completion'].map((name) => `server/${name}.ts`)
  const paths = ['wire', 'protocol', ...folders, ...parts]
  expect(paths.filter((path) => !existsSync(new URL(`../../src/${path}`, import.meta.url)))).toEqual([])
})
