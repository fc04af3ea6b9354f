import { Facts } from '../parts/facts.tsx';
import { Notice, Problem, Waiting } from '../parts/notice.tsx';
import { Page, Section, Wide } from '../parts/page.tsx';
import { Status } from '../parts/status.tsx';
import { countText, plural } from '../parts/text.ts';
import { useRaft } from './cluster-feed.ts';

/** Who leads, who follows, and how far behind. */
export function RaftPage() {
  const { data, error } = useRaft();
  if (data === undefined) return <Page title="Raft group">{error === undefined ? <Waiting /> : <Problem error={error} />}</Page>;
  const { enabled, nodes, leader_id: leader, node_id: own, term } = data;
  const away = nodes.filter(({ reachable }) => !reachable).length;
  return (
    <Page title="Raft group">
      {leader === null && <Notice tone="bad">No leader is known: changes wait until one is elected.</Notice>}
      {data.removed === true && (
        <Notice tone="bad">This member was removed from the group and still runs: stop it, and ask another one.</Notice>
      )}
      {data.recovering && <Notice tone="warn">This member is being restored by the leader, and does not vote before that is done.</Notice>}
      {away > 0 && <Notice tone={2 * away >= nodes.length ? 'bad' : 'warn'}>{plural(away, 'member')} cannot be reached.</Notice>}
      <Facts
        facts={[
          { name: 'Leader', value: leader === null ? 'none' : `member ${leader}`, note: data.leader_url ?? undefined },
          { name: 'This member', value: `${own}`, note: data.role },
          { name: 'Term', value: countText(term) },
          { name: 'Committed', value: countText(data.commit_index), note: `applied ${countText(data.applied_index)}` },
        ]}
      />
      {!enabled && <p class="quiet">This coordinator is on its own: what it knows is nowhere else.</p>}
      <Section title="Members">
        <Wide label="Members">
          <table>
            <thead>
              <tr>
                <th scope="col">Member</th>
                <th scope="col">Role</th>
                <th scope="col">Reachable</th>
                <th scope="col" class="number">
                  Behind
                </th>
                <th scope="col">URL</th>
              </tr>
            </thead>
            <tbody>
              {nodes.map(({ id, role, reachable, lag, url }) => (
                <tr key={id}>
                  <th scope="row">
                    {id}
                    {id === own && <span class="quiet"> (this one)</span>}
                  </th>
                  <td>{role}</td>
                  <td>
                    <Status of={reachable ? 'connected' : 'disconnected'}>{reachable ? 'yes' : 'no'}</Status>
                  </td>
                  <td class={`number ${(lag ?? 0) > 1_000 ? 'warn' : ''}`}>{lag === null ? 'unknown' : plural(lag, 'entry', 'entries')}</td>
                  <td class="address">{url}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Wide>
      </Section>
    </Page>
  );
}
