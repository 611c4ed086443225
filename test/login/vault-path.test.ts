import { expect, test } from 'vitest'
import { configFolder } from '../../src/auth/client/config-folder.ts'

test.each([
  ['linux', { HOME: '/home/ann' }, '/home/ann/.config/pierhead'],
  ['linux', { HOME: '/home/ann', XDG_CONFIG_HOME: '/etc/ann' }, '/etc/ann/pierhead'],
  // The specification says that relative paths there are to be ignored.
  ['linux', { HOME: '/home/ann', XDG_CONFIG_HOME: 'config' }, '/home/ann/.config/pierhead'],
  ['linux', { HOME: '/home/ann', XDG_CONFIG_HOME: '' }, '/home/ann/.config/pierhead'],
  ['freebsd', { HOME: '/home/ann' }, '/home/ann/.config/pierhead'],
  ['darwin', { HOME: '/Users/ann' }, '/Users/ann/Library/Application Support/pierhead'],
  [
    'darwin',
    { HOME: '/Users/ann', XDG_CONFIG_HOME: '/x' },
    '/Users/ann/Library/Application Support/pierhead',
  ],
  ['win32', { LOCALAPPDATA: 'D:\\Local' }, 'D:\\Local\\pierhead'],
  ['win32', { LOCALAPPDATA: 'Local' }, 'C:\\Users\\home\\AppData\\Local\\pierhead'],
  ['win32', {}, 'C:\\Users\\home\\AppData\\Local\\pierhead'],
  ['linux', {}, '/users/home/.config/pierhead'],
] as const)('on %s with %o, credentials are in %s', (platform, env, folder) => {
  const home = 'HOME' in env ? env.HOME : platform === 'win32' ? 'C:\\Users\\home' : '/users/home'
  expect(configFolder(platform, env, home)).toBe(folder)
})

test.each(['linux', 'darwin', 'win32'] as const)(
  'on %s without a home folder there is no place for them',
  (platform) => {
    expect(configFolder(platform, {}, '')).toBeUndefined()
    expect(configFolder(platform, {}, 'relative')).toBeUndefined()
  },
)
