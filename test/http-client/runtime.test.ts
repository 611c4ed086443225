import { build } from 'esbuild'
import { expect, test } from 'vitest'

test('the client half of HTTP needs nothing of Node', async () => {
  const { outputFiles, metafile } = await build({
    entryPoints: ['src/transport/http/client/client.ts'],
    bundle: true,
    write: false,
    minify: true,
    metafile: true,
    format: 'esm',
    platform: 'browser',
    conditions: ['pierhead-source'],
    absWorkingDir: process.cwd(),
  })
  expect(outputFiles.length).toBe(1)
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports)
  expect(imports.filter(({ path, external }) => external === true || path.startsWith('node:'))).toEqual([])
})
