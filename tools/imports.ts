import { parseSync } from 'oxc-parser'

/** The specifier of every module that a source file imports, re-exports or loads on demand. */
export function importsOf(file: string, text: string): readonly string[] {
  const { module } = parseSync(file, text)
  const statics = module.staticImports.map((found) => found.moduleRequest.value)
  const reexported = module.staticExports.flatMap((found) =>
    found.entries.flatMap((entry) => entry.moduleRequest?.value ?? []),
  )
  const loaded = module.dynamicImports.flatMap(({ moduleRequest: { start, end } }) => {
    const literal = /^(['"`])([^$]*)\1$/.exec(text.slice(start, end))
    return literal?.[2] ?? []
  })
  return [...new Set([...statics, ...reexported, ...loaded])]
}

/** The name of the package that a bare import reaches: `zod/mini` gives `zod`. */
export function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}
