import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serverText, type Library } from '../../bench/types-source.ts'
import { toSurface } from '../../tools/surface.ts'
import { compile, install } from './compiler.ts'
import { findMissing } from '../../tools/optional.ts'
import { MAYBE, PACKAGES } from './packages.ts'

const STRICT = ['--strict', '--noEmit', '--ignoreConfig', '--target', 'es2023', '--module', 'nodenext']

describe('an installed copy', () => {
  const folder = mkdtempSync(join(tmpdir(), 'consumer-'))
  beforeAll(() => install(folder))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test.each(['es2023,dom', 'es2023,webworker'])('compiles without the types of Node, with lib %s', (lib) => {
    const source = `
      import { createServer, defineTools, text, type Context } from 'pierhead'
      const app = createServer({ name: 'worker', version: '1' }).provide(() => ({ tenant: 'a' }))
      app.tool('echo', {
        input: { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] },
      }, ({ q }, ctx) => text(q.toUpperCase() + ctx.tenant))
      app.add(defineTools({ ping: { run: (_input, ctx: Context) => ctx.method } }))
      export default app
    `
    writeFileSync(join(folder, 'worker.ts'), source)
    expect(
      compile(folder, [...STRICT, '--lib', lib, '--types', '', '--exactOptionalPropertyTypes', 'worker.ts']),
    ).toBe('')
  })

  test('compiles with the types of Node alone, every entry point and no skipLibCheck', () => {
    const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      exports: Record<string, unknown>
    }
    const names = Object.keys(exports).filter((name) => !name.endsWith('.json'))
    const lines = names.map((name, at) => `export * as part${at} from 'pierhead${name.slice(1)}'`)
    writeFileSync(join(folder, 'all.ts'), lines.join('\n'))
    const types = [
      '--lib',
      'es2023',
      '--types',
      'node',
      '--typeRoots',
      join(process.cwd(), 'node_modules/@types'),
    ]
    expect(compile(folder, [...STRICT, ...types, 'all.ts'])).toBe('')
  })

  test.each(Object.entries(PACKAGES))(
    'lets a package export what it made with %s, with declarations that others can use',
    (name, source) => {
      writeFileSync(join(folder, `${name}.ts`), source)
      const emit = STRICT.map((arg) => (arg === '--noEmit' ? '--emitDeclarationOnly' : arg))
      const lib = ['--lib', 'es2023,esnext.disposable,dom', '--types', '']
      expect(compile(folder, [...emit, '--declaration', '--outDir', 'out', ...lib, `${name}.ts`])).toBe('')
      const declared = readFileSync(join(folder, 'out', `${name}.d.ts`), 'utf8')
      expect(declared).not.toMatch(/\bany\b|dist/)
      expect(compile(folder, [...STRICT, ...lib, `out/${name}.d.ts`])).toBe('')
    },
  )

  test('takes undefined for every option, as if it were left out', () => {
    writeFileSync(join(folder, 'maybe.ts'), MAYBE)
    const lib = ['--lib', 'es2023,esnext.disposable,dom', '--types', '']
    expect(compile(folder, [...STRICT, ...lib, '--exactOptionalPropertyTypes', 'maybe.ts'])).toBe('')
    expect(findMissing(join(folder, 'node_modules', 'pierhead'))).toEqual([])
  })

  test.each([
    ['input', `app.tool('t', { description: 'd', SHAPE: input }, ({ city }) => city.length)`],
    ['output', `app.tool('t', { SHAPE: output }, () => ({ city: 'x' }))`],
    ['args', `app.prompt('p', { SHAPE: args }, ({ city }) => city)`],
    ['a map', `defineTools({ ok: { run: () => 1 }, t: { SHAPE: input, run: ({ city }) => city.length } })`],
    ['a form', `export const ask = (ctx: Context) => ctx.elicit('Where?', SHAPE)`],
  ])('says what to do with a plain object of schemas: %s', (_title, line) => {
    const written = line.replace(/SHAPE: (\w+)/, '$1: SHAPE').replace('SHAPE', '{ city }')
    const source = `
      import { createServer, defineTools, type Context, type StandardSchema } from 'pierhead'
      declare const city: StandardSchema<string>
      export const app = createServer({ name: 'x', version: '1' })
      export const used = defineTools
      ${written}
    `
    writeFileSync(join(folder, 'shape.ts'), source)
    const said = compile(folder, [...STRICT, '--lib', 'es2023,dom', 'shape.ts'])
    expect(said.match(/error TS/g)).toHaveLength(1)
    const [place] = /\d+,\d+/.exec(said)!
    const [row = 0, column = 0] = place.split(',').map(Number)
    expect(source.split('\n')[row - 1]?.slice(column - 1)).toMatch(
      /^(?:input|output|args): \{ city \}|^\{ city \}/,
    )
    expect(said).toContain('this is a plain object of schemas; wrap it in an object schema: z.object({ … })')
  })

  test('refers only to names that the page of exports declares', () => {
    expect(toSurface(join(folder, 'node_modules', 'pierhead'))).toContain('## `pierhead/gist`')
  })

  test('tells what is wrong with an output in terms of the output', () => {
    const source = `
      import { createServer } from 'pierhead'
      createServer({ name: 'x', version: '1' }).tool('t', {
        output: {
          type: 'object',
          properties: { high: { type: 'number' }, low: { type: 'number' } },
          required: ['high', 'low'],
        },
      }, async () => ({ high: 2, lwo: 1 }))
    `
    writeFileSync(join(folder, 'wrong.ts'), source)
    const said = compile(folder, [...STRICT, '--lib', 'es2023,dom', 'wrong.ts'])
    expect(said).toContain("Property 'low' is missing in type '{ high: 2; lwo: 1; }'")
  })
})

describe('what the compiler does for a server of many tools', () => {
  const folder = `.cache/type-cost-${process.pid}`
  beforeAll(() => {
    mkdirSync(folder, { recursive: true })
    install(folder)
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  function instantiations(dialect: Library, tools: number): number {
    const file = `${dialect}-${tools}.ts`
    writeFileSync(join(folder, file), serverText(dialect, tools))
    const said = compile(folder, [
      ...STRICT,
      '--skipLibCheck',
      '--singleThreaded',
      '--extendedDiagnostics',
      file,
    ])
    expect(said).not.toContain('error TS')
    return Number(/^Instantiations:\s+(\d+)/m.exec(said)?.[1])
  }

  test.each([50, 200])(
    'is well below the official SDK at %i tools, one by one, as a chain and as a flat map',
    (tools) => {
      const official = instantiations('v2', tools)
      expect(instantiations('pierhead', tools)).toBeLessThan(0.85 * official)
      expect(instantiations('pierhead-chain', tools)).toBeLessThan(0.85 * official)
      expect(instantiations('pierhead-map', tools)).toBeLessThan(0.85 * official)
    },
  )

  test('grows no faster than the number of tools', () => {
    for (const dialect of ['pierhead', 'pierhead-chain', 'pierhead-client', 'pierhead-map'] as const)
      expect(instantiations(dialect, 200)).toBeLessThanOrEqual(4 * instantiations(dialect, 50))
  })
})
