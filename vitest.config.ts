import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig, type ViteUserConfig } from 'vitest/config'

const config: ViteUserConfig = defineConfig({
  // An alias, not the `source` condition: dependencies have one of that name too, and Node cannot run their TypeScript.
  resolve: {
    alias: [{ find: /^pierhead$/, replacement: fileURLToPath(new URL('src/index.ts', import.meta.url)) }],
  },
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'tools/**/*.test.ts'],
    testTimeout: 20_000,
    hookTimeout: 20_000,
    pool: 'forks',
    maxWorkers: Math.max(2, availableParallelism() - 1),
    reporters: ['default', './tools/reporter.ts'],
  },
})
export default config
