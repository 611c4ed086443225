import { expect, it } from 'vitest'
import { line } from './line.ts'
import { programFolder } from './program-folder.ts'
import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** A project with a copy of the package of its own, whose store is not there, or has no tasks. */
function project(): string {
  const home = programFolder({
    'copy/package.json': JSON.stringify({
      name: 'pierhead',
      type: 'module',
      exports: { '.': './index.js', './stores': './stores.js', './package.json': './package.json' },
    }),
    'copy/index.js': `export const createServer = ({ store }) => ({
  tasks: { list: async () => [{ id: store.url, status: 'working', createdAt: 0, updatedAt: 0, expiresAt: 1 }] },
  close: async () => undefined,
})`,
    'copy/stores.js': `import 'of-the-project'
export const postgres = (url) => {
  if (!url.endsWith('none')) return { url, close: async () => undefined }
  const extras = { kind: 'postgres_unavailable', hint: 'Run npm install pg.' }
  throw Object.assign(new Error('there is no client for PostgreSQL'), extras)
}`,
    'node_modules/of-the-project/package.json': '{ "name": "of-the-project", "main": "index.js" }',
    'node_modules/of-the-project/index.js': '',
  })
  rmSync(join(home, 'node_modules/pierhead'))
  renameSync(join(home, 'copy'), join(home, 'node_modules/pierhead'))
  return home
}

it('a store is opened by the copy of the project, which finds the packages there', async () => {
  const args = ['tasks', 'list', '--name', 'films', '--store']
  const cwd = project()
  const found = await line([...args, 'postgres://h/mine'], { cwd })
  expect(found).toMatchObject({ code: 0, stdout: expect.stringContaining('postgres://h/mine') })
  expect(await line([...args, 'postgres://h/none'], { cwd })).toMatchObject({
    code: 4,
    stderr: 'error: there is no client for PostgreSQL\nfix: Run npm install pg.\n',
  })
})
