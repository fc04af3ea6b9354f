create table users (name varchar(100) primary key, team varchar(100) not null);
insert into users values ('ann', 'finance'), ('bob', 'sales');

-- The id of an alert is the key: what is delivered again replaces the row that is there.
create table alerts (
  id varchar(100) primary key,
  `timestamp` datetime(3) not null,
  name varchar(100) not null,
  failures int not null,
  team varchar(100) not null
);
