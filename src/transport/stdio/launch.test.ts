import { describe, expect, test } from 'vitest'
import { isBatchFile, toBatchCall } from './batch-file.ts'
import { toEnvironment } from './environment.ts'
import { findExecutable, type Lookup } from './executable.ts'

test('quotes around a directory in PATH are removed, and those within its name are not', () => {
  const find = (path: string): string =>
    findExecutable('tool', { cwd: '/', path, endings: '', platform: 'linux', probe: () => 'program' })
  expect(find('"/opt/some tools"')).toBe('/opt/some tools/tool')
  expect(find('/opt/"some" "tools"')).toBe('/opt/"some" "tools"/tool')
  expect(find('"/opt"/tools:/bin')).toBe('/bin/tool')
})

describe('on Windows', () => {
  const lookup = (...files: string[]): Lookup => ({
    cwd: 'C:\\work',
    path: '.;;tools;C:\\Windows\\System32;"C:\\Program Files\\nodejs"',
    endings: '.COM;.EXE;.BAT;.CMD;bad',
    platform: 'win32',
    probe: (file) => (files.includes(file) ? 'program' : undefined),
  })

  test('a command is found by PATHEXT, in absolute directories only', () => {
    const npx = 'C:\\Program Files\\nodejs\\npx.CMD'
    expect(findExecutable('npx', lookup('C:\\work\\npx.CMD', 'C:\\Program Files\\nodejs\\npx', npx))).toBe(
      npx,
    )
    const node = 'C:\\Program Files\\nodejs\\node.EXE'
    expect(findExecutable('node', lookup(node, 'C:\\Program Files\\nodejs\\node.CMD'))).toBe(node)
    expect(() =>
      findExecutable('server', lookup('C:\\work\\server.EXE', 'C:\\work\\tools\\server.EXE')),
    ).toThrow('it was not found in PATH: C:\\Windows\\System32, C:\\Program Files\\nodejs')
  })

  test('a command with a path starts from the working directory', () => {
    const file = 'C:\\work\\bin\\server.exe'
    expect(findExecutable('bin\\server.exe', lookup(file))).toBe(file)
    expect(findExecutable('./bin/server.exe', lookup(file))).toBe(file)
    expect(findExecutable('D:\\x\\server', lookup('D:\\x\\server.EXE'))).toBe('D:\\x\\server.EXE')
  })

  test('a batch file is run by the system interpreter with every word quoted', () => {
    expect(
      toBatchCall('C:\\a b\\npx.cmd', ['-y', 'pkg & calc', 'C:\\dir\\', '^x|y>z'], 'C:\\Windows'),
    ).toEqual({
      file: 'C:\\Windows\\System32\\cmd.exe',
      args: [
        '/d',
        '/e:on',
        '/v:off',
        '/s',
        '/c',
        '""C:\\a b\\npx.cmd" "-y" "pkg & calc" "C:\\dir\\\\" "^x|y>z""',
      ],
    })
    expect(['x.cmd', 'X.BAT', 'x.exe', 'cmd'].map(isBatchFile)).toEqual([true, true, false, false])
  })

  test.each(['a"b', '%PATH%', 'a!b!', 'a\nb', 'a\rb', 'a\0b'])(
    'an argument that cannot be quoted safely is refused: %j',
    (word) => {
      expect(() => toBatchCall('C:\\x.cmd', [word], 'C:\\Windows')).toThrow(
        'cannot be passed to a batch file',
      )
    },
  )

  test('variable names are case-insensitive', () => {
    const own = { Path: 'C:\\x', SYSTEMROOT: 'C:\\Windows', Secret: '1', node_options: '-x' }
    const given = { own, platform: 'win32', env: { PATH: 'C:\\y', NODE_options: '-y' } } as const
    expect(toEnvironment({ ...given, inherit: 'safe' })).toEqual({
      variables: { SYSTEMROOT: 'C:\\Windows', PATH: 'C:\\y' },
      left: ['NODE_options'],
    })
  })
})

test('names of inherited object members are ordinary variable names', () => {
  const env = JSON.parse('{"__proto__":"x","constructor":"y"}') as Record<string, string>
  const { variables } = toEnvironment({ inherit: 'none', env, own: {}, platform: 'linux' })
  expect(Object.entries(variables)).toEqual([
    ['__proto__', 'x'],
    ['constructor', 'y'],
  ])
})
