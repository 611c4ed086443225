import { setTimeout as sleep } from 'node:timers/promises'
import { createServer, ToolError, type App, type ServerOptions } from 'pierhead'
import * as z from 'zod'

/** A studio whose films take long. */
export function createFilms(options: Partial<ServerOptions> = {}): App {
  const app = createServer({ name: 'films', version: '1.0.0', ...options })

  app.tool(
    'render',
    {
      description: 'Renders a film, scene by scene.',
      input: z.object({ film: z.string(), scenes: z.number().int().min(1).max(1000) }),
      output: z.object({ file: z.string() }),
      hints: { idempotent: true },
      task: { mode: 'required', ttl: '6h', poll: '500ms', retries: 3 },
    },
    async ({ film, scenes }, { signal, progress, once }) => {
      for (let scene = 1; scene <= scenes; scene++) {
        await once(`scene ${scene}`, () => draw(film, scene, signal))
        progress(scene, scenes, `scene ${scene} of ${scenes}`)
      }
      return { file: `${film}.mp4` }
    },
  )

  app.tool(
    'publish',
    {
      description: 'Publishes a film, once somebody has said where.',
      input: z.object({ film: z.string() }),
      task: { mode: 'required', onRestart: 'fail', concurrency: 2 },
    },
    async ({ film }, { elicit }) => {
      const answer = await elicit(`Where shall "${film}" be shown?`, z.object({ cinema: z.string() }))
      if (answer.action !== 'accept') throw new ToolError('Nobody said where.')
      return `"${film}" is shown at ${answer.content.cinema}.`
    },
  )

  return app
}

/** Starts a new task for each film that failed; returns their ids. */
export async function retryFailed(app: App): Promise<string[]> {
  const failed = await app.tasks.list({ status: 'failed', tool: 'render' })
  const again = await Promise.all(failed.map(({ id }) => app.tasks.retry(id)))
  return again.map(({ id }) => id)
}

async function draw(film: string, scene: number, signal: AbortSignal): Promise<string> {
  await sleep(500, undefined, { signal })
  return `${film}-${scene}.png`
}
