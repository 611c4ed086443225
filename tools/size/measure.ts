import { bundleSingle, bundleSplit } from './bundle.ts'
import { requireInstalled, type Program, type Subject } from './programs.ts'
import { bundleVite } from './vite.ts'

/** What a program weighs, minified and compressed with gzip, in bytes. */
export interface Size {
  readonly subject: Subject
  readonly task: string
  /** As one file, with esbuild. */
  readonly single: number
  /** In chunks, with esbuild: those that are loaded first, and all. */
  readonly initial: number
  readonly total: number
  /** The same with Vite, where it was measured. */
  readonly viteInitial?: number
  readonly viteTotal?: number
}

/** Measures one program. Vite takes longer than esbuild and is asked only for the whole table. */
export async function measure(program: Program, { vite }: { readonly vite: boolean }): Promise<Size> {
  requireInstalled(program)
  const { subject, task } = program
  const { gzip } = await bundleSingle(program)
  const { initial, total } = await bundleSplit(program)
  const size: Size = { subject, task, single: gzip, initial, total }
  if (!vite) return size
  const made = await bundleVite(program)
  return { ...size, viteInitial: made.initial, viteTotal: made.total }
}
