import { bundleSingle, bundleSplit } from './bundle.ts'
import { requireInstalled, type Program, type Subject } from './programs.ts'
import { bundleVite } from './vite.ts'

/** The size of a program in bytes, minified and compressed with gzip. */
export interface Size {
  readonly subject: Subject
  readonly task: string
  /** As one file, with esbuild. */
  readonly single: number
  /** In chunks, with esbuild: the initial ones, and all. */
  readonly initial: number
  readonly total: number
  /** The same with Vite, if measured. */
  readonly viteInitial?: number
  readonly viteTotal?: number
}

/** Measures one program. Vite is slower than esbuild and is used only for the complete table. */
export async function measure(program: Program, { vite }: { readonly vite: boolean }): Promise<Size> {
  requireInstalled(program)
  const { subject, task } = program
  const { gzip } = await bundleSingle(program)
  const { initial, total } = await bundleSplit(program)
  const size: Size = { subject, task, single: gzip, initial, total }
  if (!vite) return size
  const bundle = await bundleVite(program)
  return { ...size, viteInitial: bundle.initial, viteTotal: bundle.total }
}
