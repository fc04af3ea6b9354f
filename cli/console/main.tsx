import { render } from 'preact';
import { App } from './app.tsx';
import { followLocation } from './service/location.ts';

followLocation();
render(<App />, document.getElementById('app') as HTMLElement);
