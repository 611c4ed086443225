import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, expect, test } from 'vitest'
import { joinModules } from './join.ts'

const folders: string[] = []

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

const MODULES = {
  'index.js': `export { serve } from './server/app.js'\nexport { Fault } from './fault.js'`,
  'client.js': `export { call } from './client/call.js'\nexport { Fault } from './fault.js'`,
  'fault.js': `export class Fault extends Error {}`,
  'server/app.js': `import { Fault } from '../fault.js'
const name = 'app'
export const serve = async () => {
  const { listen } = await import('../net/listen.js')
  return [name, listen(), new Fault() instanceof Fault]
}`,
  'client/call.js': `import { Fault } from '../fault.js'
const name = 'call'
export const call = async () => {
  const { tell } = await import('../net/tell.js')
  return [name, tell(), new Fault() instanceof Fault]
}`,
  'net/listen.js': `import { sep } from 'node:path'
import { count } from './count.js'
export const listen = () => [sep.length, count()]`,
  'net/tell.js': `import { count } from './count.js'
export const tell = () => count()`,
  'net/count.js': `let counted = 0
export const count = () => ++counted`,
}

test('joined modules behave as before and still share their state', async () => {
  const folder = await joined(MODULES)
  const server = await load(folder, 'index.js')
  const client = await load(folder, 'client.js')
  expect(Object.keys(server).toSorted()).toEqual(['Fault', 'serve'])
  expect(Object.keys(client).toSorted()).toEqual(['Fault', 'call'])
  expect(server['Fault']).toBe(client['Fault'])
  expect(await server['serve']?.()).toEqual(['app', [1, 1], true])
  expect(await client['call']?.()).toEqual(['call', 2, true])
})

test('startup loads few files, without modules that are loaded on demand', async () => {
  const folder = await joined(MODULES)
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.js'),
  )
  expect(files.map((path) => path.replaceAll('\\', '/')).toSorted()).toEqual([
    'client.js',
    'index.js',
    'net/listen.js',
    'net/tell.js',
    'parts/both.js',
    'parts/client.js',
    'parts/later.js',
    'parts/server.js',
  ])
  // Bundlers place whole files, so the initial chunk of a client would get what is in these two.
  for (const part of ['both', 'client'])
    expect(readFileSync(join(folder, 'parts', `${part}.js`), 'utf8')).not.toContain('counted')
  for (const part of ['both', 'client', 'server'])
    expect(readFileSync(join(folder, 'parts', `${part}.js`), 'utf8')).not.toContain('node:path')
})

test('a small module that loads another on demand stays out of the files for startup', async () => {
  const folder = await joined({
    ...MODULES,
    'server/app.js': `export const serve = () => Promise.all([import('../net/listen.js'), import('../net/close.js')])`,
    'net/listen.js': `import { secure } from './secure.js'\nexport const listen = () => secure()`,
    'net/close.js': `import { secure } from './secure.js'\nexport const close = () => secure()`,
    'net/secure.js': `export const secure = () => import('./tls.js')`,
    'net/tls.js': `import { sep } from 'node:path'\nexport const tls = sep`,
  })
  for (const part of readdirSync(join(folder, 'parts')).filter((name) => /^(both|server)/.test(name)))
    expect(readFileSync(join(folder, 'parts', part), 'utf8')).not.toContain('tls.js')
  const { serve } = await load(folder, 'index.js')
  const loaded = (await serve?.()) as readonly { listen?(): Promise<{ tls: string }> }[] | undefined
  expect((await loaded?.[0]?.listen?.())?.tls).toHaveLength(1)
})

test('unused exports are left out', async () => {
  const folder = await joined({
    ...MODULES,
    'fault.js': `${MODULES['fault.js']}\nexport const spare = 'spare'`,
  })
  expect(readFileSync(join(folder, 'parts/both.js'), 'utf8')).not.toContain('spare')
})

test('a module may import another as a namespace, even from a different output file', async () => {
  const folder = await joined({
    ...MODULES,
    'fault.js': `${MODULES['fault.js']}\nexport const spare = 'spare'`,
    'index.js': `import * as all from './fault.js'\nexport const serve = () => Object.keys(all)`,
  })
  expect(readFileSync(join(folder, 'parts/both.js'), 'utf8')).toContain('spare')
  expect((await load(folder, 'index.js'))['serve']?.()).toEqual(['Fault', 'spare'])
})

test('a module that re-exports everything from another is rejected', async () => {
  await expect(joined({ ...MODULES, 'index.js': `export * from './fault.js'` })).rejects.toThrow(
    'index.js: name the imports from ./fault.js instead of re-exporting everything',
  )
})

async function joined(
  modules: Readonly<Record<string, string>>,
  others: readonly string[] = [],
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'join-'))
  folders.push(folder)
  for (const [path, text] of Object.entries({ ...modules, 'package.json': '{ "type": "module" }' })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const paths = Object.keys(modules)
  await joinModules({
    folder: relative('.', folder),
    paths,
    server: 'index.js',
    client: 'client.js',
    others,
  })
  return folder
}

type Loaded = Readonly<Record<string, (() => unknown) | undefined>>

function load(folder: string, path: string): Promise<Loaded> {
  return import(/* @vite-ignore */ pathToFileURL(join(folder, path)).href) as Promise<Loaded>
}

test('the files for startup need no module that only other entries use', async () => {
  const folder = await joined(
    {
      ...MODULES,
      'login.js': `export { late } from './login/late.js'`,
      'logout.js': `export { late } from './login/late.js'`,
      'login/late.js': `import { Fault } from '../fault.js'
import { tellsIn } from '../client/tells.js'
import { Problem } from './problem.js'
export class Late extends Problem {}
export const late = () => [new Late() instanceof Fault, tellsIn()]`,
      'login/problem.js': `import { Fault } from '../fault.js'\nexport class Problem extends Fault {}`,
      'client/tells.js': `export const tellsIn = () => 'tells'`,
      'client/call.js': `${MODULES['client/call.js']}\nexport { tellsIn } from './tells.js'`,
      'net/listen.js': `export { tellsIn as listen } from '../client/tells.js'`,
    },
    ['login.js', 'logout.js'],
  )
  expect(readFileSync(join(folder, 'parts/both.js'), 'utf8')).not.toContain('server.js')
  expect(((await load(folder, 'login.js'))['late'] as () => unknown)()).toEqual([true, 'tells'])
})
