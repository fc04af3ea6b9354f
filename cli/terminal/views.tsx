/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { Box, render, Text, useStdout } from 'ink';
import { useEffect, useReducer } from 'react';
import { readKeys } from './keys.ts';
import { FRAME_CELLS, type Line, type Paint, type PaneFrame, type Screen, type TerminalViews } from './screen.ts';

const OTHER_SCREEN = '\u001b[?1049h\u001b[H';
const FIRST_SCREEN = '\u001b[?1049l';
const FRAMES_PER_SECOND_MAX = 20;

const looks: Readonly<Record<Paint, object>> = {
  plain: {},
  dim: { dimColor: true },
  strong: { bold: true },
  name: { color: 'cyan' },
  good: { color: 'green' },
  warning: { color: 'yellow' },
  bad: { color: 'red' },
  cursor: { inverse: true },
};

export const draw: TerminalViews['draw'] = (screen, { stdin, stdout }) => {
  stdout.write(OTHER_SCREEN);
  const stopKeys = readKeys(stdin, stdout, (key) => screen.press(key));
  const options = { stdin, stdout, exitOnCtrlC: false, patchConsole: false, maxFps: FRAMES_PER_SECOND_MAX };
  const app = render(<Whole screen={screen} />, options);
  let isDrawn = true;
  const stop = (): void => {
    if (!isDrawn) return;
    isDrawn = false;
    process.off('exit', stop);
    app.unmount();
    stopKeys();
    stdout.write(FIRST_SCREEN);
  };
  process.on('exit', stop);
  return { stop };
};

function Whole({ screen }: { readonly screen: Screen }) {
  const { stdout } = useStdout();
  const [, again] = useReducer((count: number) => count + 1, 0);
  useEffect(() => screen.watch(again), [screen]);
  useEffect(() => {
    stdout.on('resize', again);
    return () => void stdout.off('resize', again);
  }, [stdout]);
  // A frame as high as the terminal would scroll it.
  const size = { columns: Math.max(20, stdout.columns ?? 80), rows: Math.max(8, (stdout.rows ?? 24) - 1) };
  const { header, rows, footer } = screen.frame(size);
  return (
    <Box flexDirection="column" width={size.columns} height={size.rows} overflow="hidden">
      <Painted line={header} />
      {rows.map((panes, at) => (
        <Box key={at} height={panes[0]?.height ?? 0} flexShrink={0}>
          {panes.map((pane) => (
            <Pane key={pane.title} pane={pane} />
          ))}
        </Box>
      ))}
      {footer.map((line, at) => (
        <Painted key={at} line={line} />
      ))}
    </Box>
  );
}

function Pane({ pane: { title, width, height, isFocused, lines } }: { readonly pane: PaneFrame }) {
  const color = isFocused ? { borderColor: 'cyan' } : { borderDimColor: true };
  const inside = width - FRAME_CELLS;
  const name = ` ${title} `.slice(0, inside - 1);
  return (
    <Box flexDirection="column" width={width} height={height} flexShrink={0}>
      <Text {...(isFocused ? { color: 'cyan', bold: true } : { dimColor: true })} wrap="truncate-end">
        {`${isFocused ? '┏' : '╭'}${isFocused ? '━' : '─'}${name}${(isFocused ? '━' : '─').repeat(Math.max(0, inside - name.length - 1))}${isFocused ? '┓' : '╮'}`}
      </Text>
      <Box
        // Made anew with the focus: a border that changes forgets that there is none above, and takes the first line's place.
        key={isFocused ? 'focused' : 'other'}
        borderStyle={isFocused ? 'bold' : 'round'}
        borderTop={false}
        {...color}
        flexDirection="column"
        width={width}
        height={height - 1}
        overflow="hidden"
      >
        {lines.slice(0, height - FRAME_CELLS).map((one, at) => (
          <Painted key={at} line={one} />
        ))}
      </Box>
    </Box>
  );
}

function Painted({ line }: { readonly line: Line }) {
  return (
    <Text wrap="truncate-end">
      {line.map(({ text, paint }, at) => (
        <Text key={at} {...looks[paint]}>
          {text}
        </Text>
      ))}
      {line.length === 0 ? ' ' : ''}
    </Text>
  );
}
